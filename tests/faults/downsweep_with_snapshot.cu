// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#include "downsweep.cuh"

DOWNSWEEP_ALGORITHM(downsweep_with_snapshot, "Down-sweep with its snapshot");
