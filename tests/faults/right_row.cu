// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#include "row.cuh"

ROW_ALGORITHM(right_row, "Right, in one row");
