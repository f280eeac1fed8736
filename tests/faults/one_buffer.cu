// SPDX-License-Identifier: MIT
#define FAULT ONE_BUFFER
#include "passes.cuh"

PASSES_ALGORITHM(one_buffer, "One buffer for all passes");
