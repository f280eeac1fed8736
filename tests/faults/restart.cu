// SPDX-License-Identifier: MIT
#define FAULT RESTART
#include "tiles.cuh"

TILES_ALGORITHM(restart, "Starts anew in each block");
