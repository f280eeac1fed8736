// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#include "vectors.cuh"

VECTORS_ALGORITHM(right_vectors, "Right, by vectors");
