// SPDX-License-Identifier: MIT
#define FAULT PADDING_PRECEDENCE
#include "padding.cuh"

PADDING_ALGORITHM(padding_precedence, "Padding macro, as printed");
