// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#include "last_block.cuh"

LAST_BLOCK_ALGORITHM(right_last_block, "Right, last block");
