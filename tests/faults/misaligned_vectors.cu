// SPDX-License-Identifier: MIT
#define FAULT MISALIGNED_VECTORS
#include "vectors.cuh"

VECTORS_ALGORITHM(misaligned_vectors, "Misaligned vectors");
