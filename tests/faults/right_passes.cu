// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#include "passes.cuh"

PASSES_ALGORITHM(right_passes, "Right, in passes");
