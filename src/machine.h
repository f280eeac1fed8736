/* SPDX-License-Identifier: MIT */
/* What a run was made on and with: machine.csv, one row. Unknown numbers are 0 or NAN, unknown text is "". */
#ifndef MACHINE_H
#define MACHINE_H

#include "csv.h"
#include "nvml.h"
#include "supervisor.h"

struct machine {
    char host_cpu[128];
    int host_cores;
    int host_threads; /* of OpenMP; 0: there is none */
    char os[128], kernel[128];
    int wsl; /* 1, 0, or -1 for unknown */
    char compiler[128];
    time_t started;
    const struct settings *settings;
    struct device_properties device;
    struct overheads overheads;
    struct gpu_state state; /* at the start, and what machine_look_again saw */
    int temp_end_c;         /* -1: unknown */
    double copy_gb_per_s;   /* the best copy of the run at its largest n, useful bytes */
};

/* Asks the host, and NVML where there is a GPU; the device has already told about itself. */
void machine_describe(struct machine *machine, const struct settings *settings, const struct worker_hello *hello,
                      time_t started);

/* The folder's name: --machine, else the GPU's name, else the CPU's and "-cpu"; a slug. A simulated device is
 * "simulated", or --machine and "-simulated". */
void machine_slug(const struct machine *machine, char *slug, size_t size);

/* The memory bus at its full clock, two transfers a cycle; NAN where clock or width is unknown. */
double machine_peak_gb_per_s(const struct device_properties *device);

/* Asks NVML again: the temperature at the end, and who else is there now. Some 10 ms. */
void machine_look_again(struct machine *machine);

/* A GPU whose clock can move: it did between rest and work (by more than 2 %), or NVML says that nobody holds it. */
bool machine_clock_unlocked(const struct machine *machine);

/* A GPU that held less than three quarters of its highest clock at work: throttled, or locked low. */
bool machine_clock_low(const struct machine *machine);

/* Calls `say` with one line for everything about the machine that makes times less sure than they look. */
void machine_warn(const struct machine *machine, void (*say)(void *arg, const char *line), void *arg);

/* Writes FOLDER/machine.csv.part; `complete` drops the .part. 0, or -1 after one line on stderr. */
int machine_write(const struct machine *machine, const char *folder, const char *run, const char *slug, bool complete);

extern const char machine_header[];

/* The row of machine.csv as it would be written, LF excluded. */
void machine_row(const struct machine *machine, const char *run, const char *slug, struct csv_row *row);

/* A machine.csv read back; columns are found by name. */
enum { MACHINE_COLUMNS = 96 };
struct machine_record {
    char header[4096], row[8192]; /* cut at their commas */
    char *names[MACHINE_COLUMNS], *fields[MACHINE_COLUMNS];
    int columns;
};

/* From the text of the file. 0, or -1 and one line in `why`. */
int machine_record_read(const char *text, struct machine_record *record, char *why, size_t size);
const char *machine_record_field(const struct machine_record *record, const char *name); /* "" where it is missing */

/* Writes the record into `folder`, as machine_write does, with other values of the columns named. */
struct machine_value {
    const char *name;
    char value[40];
};
int machine_record_write(const struct machine_record *record, const struct machine_value *values, int count,
                         const char *folder, bool complete);

#endif
