/* SPDX-License-Identifier: MIT */
/* The threads of host algorithms, which are OpenMP's: how many there are, and that they do not disturb others. */
#ifndef HOST_THREADS_H
#define HOST_THREADS_H

/* As many as OpenMP would start now (OMP_NUM_THREADS, or the cores this process may use); 0 without OpenMP. */
int host_threads(void);

/* Ends the threads of earlier runs. OpenMP keeps them for the next run, and for milliseconds they look for it without a
 * pause: time that a core would take from whoever is timed then. The next run starts them anew. */
void host_threads_rest(void);

#endif
