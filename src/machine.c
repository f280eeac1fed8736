/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include "host_threads.h"
#include "timer.h"
#include "verbs/verbs.h"
#include "version.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* The first line of `path` that starts with `key`, from behind the separator on, without quotes; "" if there is none.
 * Some lines of /proc/cpuinfo are longer than the buffer; their rest matches no key. */
static void file_value(const char *path, const char *key, char separator, char *value, size_t size)
{
    char line[512];
    value[0] = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        char *start = strchr(line, separator);
        if (strncmp(line, key, strlen(key)) || !start)
            continue;
        start += 1 + strspn(start + 1, " \t\"");
        start[strcspn(start, "\"\n")] = 0;
        snprintf(value, size, "%s", start);
        break;
    }
    fclose(file);
}

static bool contains_ignoring_case(const char *text, const char *word)
{
    for (; *text; text++)
        if (!strncasecmp(text, word, strlen(word)))
            return true;
    return false;
}

/* NVML's view of the GPU; of a simulated one what it was told to say. */
static void look(const struct device_properties *device, struct gpu_state *state)
{
    *state = (struct gpu_state){.temperature_c = -1, .power_limit_w = NAN, .other_processes = -1, .clocks_locked = -1};
    if (device->simulated) {
        state->temperature_c = device->temperature_c;
        state->power_limit_w = device->power_limit_w;
        state->other_processes = device->other_processes;
        state->clocks_locked = device->clocks_locked;
    } else if (!strcmp(device->kind, "cuda") && device->uuid[0]) {
        nvml_read(device->uuid, state);
    }
}

void machine_describe(struct machine *machine, const struct settings *settings, const struct worker_hello *hello,
                      time_t started)
{
    memset(machine, 0, sizeof *machine);
    machine->settings = settings;
    machine->started = started;
    machine->device = hello->properties;
    machine->overheads = hello->overheads;
    machine->copy_gb_per_s = NAN;
    machine->temp_end_c = -1;
    look(&machine->device, &machine->state);

    file_value("/proc/cpuinfo", "model name", ':', machine->host_cpu, sizeof machine->host_cpu);
    if (!machine->host_cpu[0] && !strcmp(hello->properties.kind, "cpu") && !hello->properties.simulated)
        snprintf(machine->host_cpu, sizeof machine->host_cpu, "%s", hello->properties.name);
    machine->host_cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    machine->host_threads = host_threads();
    file_value("/etc/os-release", "PRETTY_NAME=", '=', machine->os, sizeof machine->os);

    struct utsname name;
    machine->wsl = -1;
    if (!uname(&name)) {
        snprintf(machine->kernel, sizeof machine->kernel, "%s", name.release);
        machine->wsl = contains_ignoring_case(name.release, "microsoft");
    }
    if (machine->device.simulated && machine->device.wsl)
        machine->wsl = 1;
    snprintf(machine->compiler, sizeof machine->compiler, "%s", COMPILER);
}

void machine_look_again(struct machine *machine)
{
    struct gpu_state now;
    look(&machine->device, &now);
    machine->temp_end_c = now.temperature_c;
    machine->state.other_processes = now.other_processes;
}

/* A GPU, or what plays one. */
static bool is_gpu(const struct device_properties *device)
{
    return device->simulated || !strcmp(device->kind, "cuda");
}

void machine_slug(const struct machine *machine, char *slug, size_t size)
{
    bool gpu = is_gpu(&machine->device) && machine->device.name[0], simulated = machine->device.simulated;
    char name[160];
    if (machine->settings->machine)
        snprintf(name, sizeof name, "%s%s", machine->settings->machine, simulated ? "-simulated" : "");
    else if (simulated)
        snprintf(name, sizeof name, "simulated");
    else if (gpu)
        snprintf(name, sizeof name, "%s", machine->device.name);
    else
        snprintf(name, sizeof name, "%s-cpu", machine->host_cpu[0] ? machine->host_cpu : "unknown");
    csv_slug(name, slug, size);
}

double machine_peak_gb_per_s(const struct device_properties *device)
{
    if (device->mem_clock_max_mhz <= 0 || device->mem_bus_bits <= 0)
        return NAN;
    return 2.0 * device->mem_clock_max_mhz * 1e6 * (device->mem_bus_bits / 8.0) / 1e9;
}

/* ---- what to be told at the start */

static bool clock_moved(const struct overheads *o)
{
    return o->sm_clock_first_mhz > 0 && o->sm_clock_busy_mhz > 0 &&
           fabs(o->sm_clock_first_mhz - o->sm_clock_busy_mhz) > 0.02 * o->sm_clock_busy_mhz;
}

bool machine_clock_unlocked(const struct machine *machine)
{
    return is_gpu(&machine->device) && (clock_moved(&machine->overheads) || machine->state.clocks_locked == 0);
}

bool machine_clock_low(const struct machine *machine)
{
    double busy = machine->overheads.sm_clock_busy_mhz;
    return is_gpu(&machine->device) && busy > 0 && busy < 0.75 * machine->device.sm_clock_max_mhz;
}

void machine_warn(const struct machine *machine, void (*say)(void *arg, const char *line), void *arg)
{
    const struct overheads *o = &machine->overheads;
    const struct gpu_state *state = &machine->state;
    char line[300];
    if (!is_gpu(&machine->device) || !machine->device.name[0])
        return;
    if (machine_clock_unlocked(machine)) {
        if (clock_moved(o))
            snprintf(line, sizeof line,
                     "clocks are not locked: %.0f MHz after a rest, %.0f MHz at work; `nvidia-smi -lgc` locks them",
                     o->sm_clock_first_mhz, o->sm_clock_busy_mhz);
        else
            snprintf(line, sizeof line, "clocks are not locked; `nvidia-smi -lgc` locks them");
        say(arg, line);
    }
    if (machine_clock_low(machine)) {
        snprintf(line, sizeof line,
                 "the SM clock is low: %.0f MHz at work, %d MHz is its highest; throttled already, or locked there",
                 o->sm_clock_busy_mhz, machine->device.sm_clock_max_mhz);
        say(arg, line);
    }
    if (state->other_processes > 0) {
        snprintf(line, sizeof line, "%d other process%s on this GPU: times may be theirs in part",
                 state->other_processes, state->other_processes == 1 ? " computes" : "es compute");
        say(arg, line);
    }
    if (machine->device.mem_clock_max_mhz <= 0)
        say(arg, "the memory clock is unknown: no peak bandwidth, the copy alone is the ceiling");
    if (state->throttled[0]) {
        snprintf(line, sizeof line, "the GPU is throttled already (%s)", state->throttled);
        say(arg, line);
    }
    if (machine->wsl == 1)
        say(arg, "under WSL the driver is that of Windows: programs there that use the GPU cannot be seen from here");
}

/* ---- machine.csv */

const char machine_header[] =
    "schema,run,machine,date_utc,version,commit,dirty,argv,seed,gpu_name,compute_capability,sm_count,"
    "sm_clock_max_mhz,mem_clock_max_mhz,mem_bus_bits,peak_gb_per_s,copy_gb_per_s,h2d_gb_per_s,d2h_gb_per_s,l2_bytes,"
    "global_mem_bytes,ecc,driver,runtime,nvcc,cub,arch_flags,power_limit_w,temp_start_c,temp_end_c,"
    "event_resolution_s,event_pair_s,gate_s,empty_kernel_s,host_cpu,host_cores,os,kernel,wsl,compiler,samples_min,"
    "samples_max,point_budget_s,ci_target,uuid,mig,simulated,other_processes,clocks_locked,sm_clock_rest_mhz,"
    "sm_clock_busy_mhz,resumed,host_threads\n";

static void positive(struct csv_row *row, int value)
{
    csv_positive(row, value > 0 ? (uint64_t)value : 0);
}

/* What is measured is above 0. */
static void measured(struct csv_row *row, double value)
{
    csv_number(row, value > 0 ? value : NAN);
}

/* Missing where it is below 0. */
static void not_negative(struct csv_row *row, int value)
{
    csv_integer(row, value < 0 ? UNKNOWN : (uint64_t)value);
}

/* 1, 0, or missing where the value is below 0. */
static void yes_or_no(struct csv_row *row, int value)
{
    not_negative(row, value < 0 ? -1 : value != 0);
}

/* The verb and its options. */
static void command_line(struct csv_row *row, const struct settings *settings)
{
    char **words = malloc(((size_t)settings->argc + 1) * sizeof *words), *verb = strdup(settings->verb->name);
    if (!words || !verb)
        abort();
    words[0] = verb;
    for (int i = 0; i < settings->argc; i++)
        words[i + 1] = settings->argv[i];
    csv_words(row, words, settings->argc + 1);
    free(verb);
    free(words);
}

void machine_row(const struct machine *machine, const char *run, const char *slug, struct csv_row *row)
{
    const struct device_properties *device = &machine->device;
    const struct settings *settings = machine->settings;
    const struct overheads *o = &machine->overheads;
    const struct gpu_state *state = &machine->state;
    bool gpu = is_gpu(device);
    char date[32], compute[32] = "";
    struct tm utc;

    gmtime_r(&machine->started, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (device->compute_major > 0)
        snprintf(compute, sizeof compute, "%d.%d", device->compute_major, device->compute_minor);

    row->length = 0;
    csv_integer(row, CSV_SCHEMA);
    csv_text(row, run);
    csv_text(row, slug);
    csv_text(row, date);
    csv_text(row, SCANBENCH_VERSION);
    csv_text(row, SCANBENCH_COMMIT);
    yes_or_no(row, SCANBENCH_COMMIT[0] ? SCANBENCH_DIRTY : -1);
    command_line(row, settings);
    csv_integer(row, settings->seed);
    csv_text(row, gpu ? device->name : "");
    csv_text(row, compute);
    positive(row, device->sm_count);
    positive(row, device->sm_clock_max_mhz);
    positive(row, device->mem_clock_max_mhz);
    positive(row, device->mem_bus_bits);
    csv_number(row, machine_peak_gb_per_s(device));
    csv_number(row, machine->copy_gb_per_s);
    measured(row, o->h2d_gb_per_s);
    measured(row, o->d2h_gb_per_s);
    csv_positive(row, device->l2_bytes);
    csv_positive(row, device->memory_bytes);
    yes_or_no(row, gpu ? device->ecc : -1);
    csv_text(row, device->driver);
    csv_text(row, device->runtime);
    csv_text(row, device->nvcc);
    csv_text(row, device->cub);
    csv_text(row, device->architectures);
    measured(row, state->power_limit_w);
    not_negative(row, state->temperature_c);
    not_negative(row, machine->temp_end_c);
    measured(row, o->event_resolution_s);
    measured(row, o->event_pair_s);
    measured(row, o->gate_s);
    measured(row, o->empty_kernel_s);
    csv_text(row, machine->host_cpu);
    positive(row, machine->host_cores);
    csv_text(row, machine->os);
    csv_text(row, machine->kernel);
    yes_or_no(row, machine->wsl);
    csv_text(row, machine->compiler);
    positive(row, settings->min_samples);
    positive(row, settings->max_samples);
    csv_number(row, settings->budget_s);
    csv_number(row, TIMER_CI_TARGET);
    csv_text(row, device->uuid);
    yes_or_no(row, gpu ? device->mig : -1);
    yes_or_no(row, device->simulated);
    not_negative(row, gpu ? state->other_processes : -1);
    yes_or_no(row, gpu ? state->clocks_locked : -1);
    measured(row, o->sm_clock_first_mhz);
    measured(row, o->sm_clock_busy_mhz);
    csv_integer(row, 0);
    positive(row, machine->host_threads);
    row->text[--row->length] = 0; /* the last comma */
}

/* Whole or not at all: what it says is needed to finish an interrupted run. */
static int write_file(const char *header, const char *row, const char *folder, bool complete)
{
    char text[sizeof(struct machine_record) + 16], part[4200], whole[4200];
    int length = snprintf(text, sizeof text, "%s%s\n", header, row);
    if (csv_write(folder, "machine.csv.part", text, (size_t)length))
        return -1;
    snprintf(part, sizeof part, "%s/machine.csv.part", folder);
    snprintf(whole, sizeof whole, "%s/machine.csv", folder);
    if (!complete || !rename(part, whole))
        return 0;
    fprintf(stderr, "scanbench: cannot rename %s: %s\n", part, strerror(errno));
    return -1;
}

int machine_write(const struct machine *machine, const char *folder, const char *run, const char *slug, bool complete)
{
    struct csv_row row;
    machine_row(machine, run, slug, &row);
    return write_file(machine_header, row.text, folder, complete);
}

/* ---- read back */

int machine_record_read(const char *text, struct machine_record *record, char *why, size_t size)
{
    size_t header = strcspn(text, "\n"), row = text[header] ? strcspn(text + header + 1, "\n") : 0;
    if (!text[header] || !text[header + 1 + row] || text[header + 1 + row + 1]) {
        snprintf(why, size, "it has not two lines, a header and a row");
        return -1;
    }
    if (header >= sizeof record->header || row >= sizeof record->row) {
        snprintf(why, size, "its lines are longer than any that is written");
        return -1;
    }
    snprintf(record->header, sizeof record->header, "%.*s", (int)header, text);
    snprintf(record->row, sizeof record->row, "%.*s", (int)row, text + header + 1);
    record->columns = csv_split(record->header, record->names, MACHINE_COLUMNS);
    if (record->columns > MACHINE_COLUMNS ||
        csv_split(record->row, record->fields, MACHINE_COLUMNS) != record->columns) {
        snprintf(why, size, "its row has not as many fields as its header has columns");
        return -1;
    }
    return 0;
}

const char *machine_record_field(const struct machine_record *record, const char *name)
{
    for (int i = 0; i < record->columns; i++)
        if (!strcmp(record->names[i], name))
            return record->fields[i];
    return "";
}

int machine_record_write(const struct machine_record *record, const struct machine_value *values, int count,
                         const char *folder, bool complete)
{
    char header[sizeof record->header + 2] = "", row[sizeof record->row + 1024] = "";
    size_t names = 0, fields = 0;
    for (int i = 0; i < record->columns; i++) {
        const char *field = record->fields[i];
        for (int v = 0; v < count; v++)
            if (!strcmp(values[v].name, record->names[i]))
                field = values[v].value;
        names += (size_t)snprintf(header + names, sizeof header - names, "%s%s", i ? "," : "", record->names[i]);
        fields += (size_t)snprintf(row + fields, sizeof row - fields, "%s%s", i ? "," : "", field);
    }
    strcpy(header + names, "\n");
    return write_file(header, row, folder, complete);
}
