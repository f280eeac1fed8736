// SPDX-License-Identifier: MIT
#define FAULT PAST_THE_END
#include "tiles.cuh"

TILES_ALGORITHM(past_the_end, "Writes one past the end");
