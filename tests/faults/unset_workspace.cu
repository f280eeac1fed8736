// SPDX-License-Identifier: MIT
#define FAULT UNSET_WORKSPACE
#include "tiles.cuh"

TILES_ALGORITHM(unset_workspace, "Reads a workspace nobody has set");
