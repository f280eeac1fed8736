// SPDX-License-Identifier: MIT
#define FAULT NO_SNAPSHOT
#include "downsweep.cuh"

DOWNSWEEP_ALGORITHM(downsweep_without_snapshot, "Down-sweep without its snapshot");
