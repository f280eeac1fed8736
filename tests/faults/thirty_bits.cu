// SPDX-License-Identifier: MIT
#define FAULT THIRTY_BITS
#include "chained.cuh"

CHAINED_ALGORITHM(thirty_bits, "Value in 30 bits");
