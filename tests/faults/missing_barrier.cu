// SPDX-License-Identifier: MIT
#define FAULT MISSING_BARRIER
#include "tiles.cuh"

TILES_ALGORITHM(missing_barrier, "Missing barrier");
