// SPDX-License-Identifier: MIT
#define FAULT TILE_FROM_BLOCK
#include "chained.cuh"

CHAINED_ALGORITHM(tile_from_block, "Tile number from the block");
