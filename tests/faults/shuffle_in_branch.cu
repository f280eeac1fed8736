// SPDX-License-Identifier: MIT
#define FAULT SHUFFLE_IN_BRANCH
#include "warp.cuh"

WARP_ALGORITHM(shuffle_in_branch, "Shuffle in a branch");
