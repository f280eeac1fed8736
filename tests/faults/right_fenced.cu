// SPDX-License-Identifier: MIT
#define FAULT FENCED
#include "apart.cuh"

APART_ALGORITHM(right_fenced, "Right, fences");
