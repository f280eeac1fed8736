// SPDX-License-Identifier: MIT
#define FAULT TAGGED
#include "apart.cuh"

APART_ALGORITHM(right_tagged, "Right, one word");
