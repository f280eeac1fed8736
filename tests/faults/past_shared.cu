// SPDX-License-Identifier: MIT
#define FAULT PAST_SHARED
#include "row.cuh"

ROW_ALGORITHM(past_shared, "Writes past a shared array");
