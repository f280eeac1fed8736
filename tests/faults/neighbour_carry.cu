// SPDX-License-Identifier: MIT
#define FAULT NEIGHBOUR_CARRY
#include "tiles.cuh"

TILES_ALGORITHM(neighbour_carry, "Carry to the next block only");
