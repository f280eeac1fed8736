// SPDX-License-Identifier: MIT
#define FAULT SWAPPED_OPERANDS
#include "tiles.cuh"

TILES_ALGORITHM(swapped_operands, "Operands swapped");
