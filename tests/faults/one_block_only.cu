// SPDX-License-Identifier: MIT
#define FAULT ONE_BLOCK_ONLY
#include "tiles.cuh"

TILES_ALGORITHM(one_block_only, "Right below one block");
