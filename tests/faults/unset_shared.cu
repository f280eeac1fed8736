// SPDX-License-Identifier: MIT
#define FAULT UNSET_SHARED
#include "row.cuh"

ROW_ALGORITHM(unset_shared, "Reads shared memory nobody has set");
