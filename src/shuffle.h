/* SPDX-License-Identifier: MIT */
/* Orders drawn by a seed: the same seed, the same order, on every machine. */
#ifndef SHUFFLE_H
#define SHUFFLE_H

#include <stdint.h>

/* Shuffles `count` numbers; every order is as likely as any other. *state is the seed, and goes on from call to call.
 */
void shuffle(int *numbers, int count, uint64_t *state);

#endif
