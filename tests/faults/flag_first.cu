// SPDX-License-Identifier: MIT
#define FAULT FLAG_FIRST
#include "chained.cuh"

CHAINED_ALGORITHM(flag_first, "Flag before value");
