// SPDX-License-Identifier: MIT
#define FAULT DIVERGENT_BARRIER
#include "row.cuh"

ROW_ALGORITHM(divergent_barrier, "Barrier in a branch");
