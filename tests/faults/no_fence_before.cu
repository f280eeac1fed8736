// SPDX-License-Identifier: MIT
#define FAULT NO_FENCE_BEFORE
#include "last_block.cuh"

LAST_BLOCK_ALGORITHM(no_fence_before, "No fence before the ticket");
