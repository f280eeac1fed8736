// SPDX-License-Identifier: MIT
#define FAULT CHANGED_INPUT
#include "tiles.cuh"

TILES_ALGORITHM(changed_input, "Changes its input");
