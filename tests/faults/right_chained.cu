// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#include "chained.cuh"

CHAINED_ALGORITHM(right_chained, "Right, chained");
