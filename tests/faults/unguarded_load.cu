// SPDX-License-Identifier: MIT
#define FAULT UNGUARDED_LOAD
#include "tiles.cuh"

TILES_ALGORITHM(unguarded_load, "Unguarded load");
