// SPDX-License-Identifier: MIT
#define FAULT WRONG_BUFFER
#include "passes.cuh"

PASSES_ALGORITHM(wrong_buffer, "Wrong buffer after an even number of passes");
