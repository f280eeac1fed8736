/* SPDX-License-Identifier: MIT */
#include "shuffle.h"

static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Fisher and Yates. */
void shuffle(int *numbers, int count, uint64_t *state)
{
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(draw(state) % (uint64_t)(i + 1)), swapped = numbers[i];
        numbers[i] = numbers[j];
        numbers[j] = swapped;
    }
}
