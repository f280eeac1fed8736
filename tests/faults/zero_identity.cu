// SPDX-License-Identifier: MIT
#define FAULT ZERO_IDENTITY
#include "tiles.cuh"

TILES_ALGORITHM(zero_identity, "Zero as the identity");
