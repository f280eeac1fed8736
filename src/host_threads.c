/* SPDX-License-Identifier: MIT */
#include "host_threads.h"

#ifdef _OPENMP
#include <omp.h>

int host_threads(void)
{
    return omp_get_max_threads();
}

void host_threads_rest(void)
{
    omp_pause_resource_all(omp_pause_soft);
}

#else

int host_threads(void)
{
    return 0;
}

void host_threads_rest(void) {}

#endif
