/* SPDX-License-Identifier: MIT */
/* Takes its process down where n is 1000. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

static void run(const struct problem *p)
{
    if (p->n == 1000)
        abort();
    memcpy(p->out, p->in, p->n * type_size(p->type));
}

ALGORITHM(crash) = {.title = "Crashes", .runs_on = HOST, .kinds = COPY, .types = ALL_TYPES, .run = run};
