// SPDX-License-Identifier: MIT
#define FAULT OTHER_FLAG
#include "apart.cuh"

APART_ALGORITHM(other_flag, "Release of another flag");
