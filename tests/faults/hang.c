/* SPDX-License-Identifier: MIT */
/* Does not come back where n is 1000. */
#include "scan.h"

#include <string.h>
#include <unistd.h>

static void run(const struct problem *p)
{
    while (p->n == 1000)
        pause();
    memcpy(p->out, p->in, p->n * type_size(p->type));
}

ALGORITHM(hang) = {.title = "Hangs", .runs_on = HOST, .kinds = COPY, .types = ALL_TYPES, .run = run};
