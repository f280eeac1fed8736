// SPDX-License-Identifier: MIT
#define FAULT DROPPED_LAST
#include "tiles.cuh"

TILES_ALGORITHM(dropped_last, "Drops a block's last element");
