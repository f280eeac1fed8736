// SPDX-License-Identifier: MIT
#define FAULT PAST_THE_WORKSPACE
#include "tiles.cuh"

TILES_ALGORITHM(past_the_workspace, "Writes past its workspace");
