// SPDX-License-Identifier: MIT
#define FAULT TWO_BLOCKS_ONLY
#include "tiles.cuh"

TILES_ALGORITHM(two_blocks_only, "Right below two blocks");
