// SPDX-License-Identifier: MIT
#define FAULT NEGATIVE_SHARED
#include "row.cuh"

ROW_ALGORITHM(negative_shared, "Reads before a shared array");
