/* SPDX-License-Identifier: MIT */
/* What a run was made on and with: machine.csv, one row. Unknown numbers are 0 or NAN, unknown text is "". */
#ifndef MACHINE_H
#define MACHINE_H

#include "csv.h"
#include "supervisor.h"

struct machine {
    char host_cpu[128];
    int host_cores;
    char os[128], kernel[128];
    int wsl; /* 1, 0, or -1 for unknown */
    char compiler[128];
    time_t started;
    const struct settings *settings;
    struct device_properties device;
    double event_resolution_s;
    double copy_gb_per_s; /* the best copy of the run at its largest n, useful bytes */
};

/* Asks the host; the device has already told about itself. */
void machine_describe(struct machine *machine, const struct settings *settings, const struct worker_hello *hello,
                      time_t started);

/* The folder's name: --machine, else the GPU's name, else the CPU's and "-cpu"; a slug. */
void machine_slug(const struct machine *machine, char *slug, size_t size);

/* The memory bus at its full clock, two transfers a cycle; NAN where clock or width is unknown. */
double machine_peak_gb_per_s(const struct device_properties *device);

/* Writes FOLDER/machine.csv.part; `complete` drops the .part. 0, or -1 after one line on stderr. */
int machine_write(const struct machine *machine, const char *folder, const char *run, const char *slug, bool complete);

extern const char machine_header[];

#endif
