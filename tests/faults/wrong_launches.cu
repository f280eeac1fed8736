// SPDX-License-Identifier: MIT
#define FAULT WRONG_LAUNCHES
#include "tiles.cuh"

TILES_ALGORITHM(wrong_launches, "Wrong launches in the model");
