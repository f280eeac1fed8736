// SPDX-License-Identifier: MIT
#define FAULT BARRIER_OF_LOOP
#include "row.cuh"

ROW_ALGORITHM(barrier_of_loop, "Missing barrier at the end of a loop");
