// SPDX-License-Identifier: MIT
#define FAULT WRONG_ADDITIONS
#include "tiles.cuh"

TILES_ALGORITHM(wrong_additions, "Wrong additions in the model");
