// SPDX-License-Identifier: MIT
#define FAULT LAST_MISSING
#include "tiles.cuh"

TILES_ALGORITHM(last_missing, "Last element missing");
