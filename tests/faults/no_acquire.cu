// SPDX-License-Identifier: MIT
#define FAULT NO_ACQUIRE
#include "apart.cuh"

APART_ALGORITHM(no_acquire, "No acquire");
