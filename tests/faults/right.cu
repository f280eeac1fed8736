// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#define TILES_ALL_TYPES
#include "tiles.cuh"

TILES_ALGORITHM(right, "Right");
