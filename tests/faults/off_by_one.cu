// SPDX-License-Identifier: MIT
#define FAULT OFF_BY_ONE
#include "tiles.cuh"

TILES_ALGORITHM(off_by_one, "Off by one");
