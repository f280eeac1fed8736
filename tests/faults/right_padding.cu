// SPDX-License-Identifier: MIT
#define FAULT NO_FAULT
#include "padding.cuh"

PADDING_ALGORITHM(right_padding, "Right, padded");
