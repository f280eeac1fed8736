// SPDX-License-Identifier: MIT
#define FAULT PADDING_ARGUMENT
#include "padding.cuh"

PADDING_ALGORITHM(padding_argument, "Padding macro without brackets");
