// SPDX-License-Identifier: MIT
#define FAULT WRITES_NOTHING
#include "tiles.cuh"

TILES_ALGORITHM(writes_nothing, "Writes nothing");
