// SPDX-License-Identifier: MIT
#define FAULT TWO_BARRIERS
#include "row.cuh"

ROW_ALGORITHM(two_barriers, "Two barriers for two halves");
