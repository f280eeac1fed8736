/* SPDX-License-Identifier: MIT */
/* What the driver's management library knows of a GPU at this moment. */
#ifndef NVML_H
#define NVML_H

#include <stdbool.h>

struct gpu_state {
    int temperature_c;    /* -1: unknown */
    double power_limit_w; /* NAN: unknown */
    int other_processes;  /* that compute on the GPU, this process and its descendants left out; -1: unknown. In a
                           * container the driver tells numbers from outside: then one that nobody bears in here is
                           * taken for our own, so ask while the GPU is in use */
    int sm_clock_mhz;     /* now; 0: unknown */
    int mem_clock_mhz;
    /* 1: somebody has set the clocks; 0: nobody has; -1: unknown. NVML does not tell of locked clocks (nvidia-smi
     * -lgc), but those do not drop when the GPU idles: 0 comes from an idle GPU alone, so ask before it has anything to
     * do. */
    int clocks_locked;
    /* Why the clocks are lower than they could be, slugs joined by '+': "power", "thermal", "hardware", "power-brake",
     * "sync-boost". "": no reason, or unknown. An idle GPU is no reason. */
    char throttled[64];
};

/* Asks about the GPU or MIG slice with this UUID ("GPU-...", "MIG-..."). A slice has processes of its own; the rest is
 * that of the GPU it is cut from. The library is opened and closed in a child process, and never needed at build time.
 *
 * False where there is no library, no driver, no such GPU or no answer within two seconds: everything is unknown then.
 * What this driver's library has no function for stays unknown alone. Prints nothing. May take some 10 ms: not for the
 * inside of a measurement. */
bool nvml_read(const char *uuid, struct gpu_state *state);

#endif
