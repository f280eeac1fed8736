// SPDX-License-Identifier: MIT
#define FAULT STALE_CARRIES
#include "tiles.cuh"

TILES_ALGORITHM(stale_carries, "Carries of the run before");
