// SPDX-License-Identifier: MIT
#define FAULT TRANSITIVE
#include "apart.cuh"

APART_ALGORITHM(right_transitive, "Right, transitive");
