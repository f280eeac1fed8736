// SPDX-License-Identifier: MIT
#define FAULT ONES_ONLY
#include "tiles.cuh"

TILES_ALGORITHM(ones_only, "Right on all ones only");
