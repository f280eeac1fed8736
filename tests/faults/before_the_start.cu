// SPDX-License-Identifier: MIT
#define FAULT BEFORE_THE_START
#include "tiles.cuh"

TILES_ALGORITHM(before_the_start, "Writes before the start");
