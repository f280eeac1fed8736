// SPDX-License-Identifier: MIT
#define FAULT NO_FENCE_BEHIND
#include "last_block.cuh"

LAST_BLOCK_ALGORITHM(no_fence_behind, "No fence behind the ticket");
