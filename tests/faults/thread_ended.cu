// SPDX-License-Identifier: MIT
#define FAULT THREAD_ENDED
#include "row.cuh"

ROW_ALGORITHM(thread_ended, "Threads end before a barrier");
