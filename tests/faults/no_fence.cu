// SPDX-License-Identifier: MIT
#define FAULT NO_FENCE
#include "apart.cuh"

APART_ALGORITHM(no_fence, "No fence");
