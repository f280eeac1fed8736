// SPDX-License-Identifier: MIT
#define FAULT NO_RELEASE
#include "apart.cuh"

APART_ALGORITHM(no_release, "No release");
