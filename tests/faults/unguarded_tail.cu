// SPDX-License-Identifier: MIT
#define FAULT UNGUARDED_TAIL
#include "tiles.cuh"

TILES_ALGORITHM(unguarded_tail, "Unguarded tail");
