// SPDX-License-Identifier: MIT
#define FAULT NEGATIVE_INDEX
#include "passes.cuh"

PASSES_ALGORITHM(negative_index, "Reads before the start");
