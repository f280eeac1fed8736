// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#include "apart.cuh"

APART_ALGORITHM(right_apart, "Right, flag apart");
