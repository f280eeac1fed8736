// SPDX-License-Identifier: MIT
#define FAULT STALE_STATUS
#include "chained.cuh"

CHAINED_ALGORITHM(stale_status, "Status words of the run before");
