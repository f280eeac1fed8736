// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#include "tiles.cuh"

TILES_ALGORITHM(right, "Right");
