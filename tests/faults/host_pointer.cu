// SPDX-License-Identifier: MIT
#define FAULT HOST_POINTER
#include "row.cuh"

ROW_ALGORITHM(host_pointer, "Host pointer in a kernel");
