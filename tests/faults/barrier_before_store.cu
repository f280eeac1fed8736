// SPDX-License-Identifier: MIT
#define FAULT BARRIER_BEFORE_STORE
#include "row.cuh"

ROW_ALGORITHM(barrier_before_store, "Missing barrier before a store");
