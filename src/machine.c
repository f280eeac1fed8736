/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include "timer.h"
#include "verbs/verbs.h"
#include "version.h"

#include <math.h>
#include <stdio.h>
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

void machine_describe(struct machine *machine, const struct settings *settings, const struct worker_hello *hello,
                      time_t started)
{
    memset(machine, 0, sizeof *machine);
    machine->settings = settings;
    machine->started = started;
    machine->device = hello->properties;
    machine->event_resolution_s = hello->overheads.event_resolution_s;
    machine->copy_gb_per_s = NAN;

    file_value("/proc/cpuinfo", "model name", ':', machine->host_cpu, sizeof machine->host_cpu);
    if (!machine->host_cpu[0] && !strcmp(hello->properties.kind, "cpu"))
        snprintf(machine->host_cpu, sizeof machine->host_cpu, "%s", hello->properties.name);
    machine->host_cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    file_value("/etc/os-release", "PRETTY_NAME=", '=', machine->os, sizeof machine->os);

    struct utsname name;
    machine->wsl = -1;
    if (!uname(&name)) {
        snprintf(machine->kernel, sizeof machine->kernel, "%s", name.release);
        machine->wsl = contains_ignoring_case(name.release, "microsoft");
    }
    snprintf(machine->compiler, sizeof machine->compiler, "%s", COMPILER);
}

void machine_slug(const struct machine *machine, char *slug, size_t size)
{
    bool gpu = !strcmp(machine->device.kind, "cuda") && machine->device.name[0];
    char name[160];
    if (machine->settings->machine)
        snprintf(name, sizeof name, "%s", machine->settings->machine);
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

const char machine_header[] =
    "schema,run,machine,date_utc,version,commit,dirty,argv,seed,gpu_name,compute_capability,sm_count,"
    "sm_clock_max_mhz,mem_clock_max_mhz,mem_bus_bits,peak_gb_per_s,copy_gb_per_s,h2d_gb_per_s,d2h_gb_per_s,l2_bytes,"
    "global_mem_bytes,ecc,driver,runtime,nvcc,cub,arch_flags,power_limit_w,temp_start_c,temp_end_c,"
    "event_resolution_s,event_pair_s,gate_s,empty_kernel_s,host_cpu,host_cores,os,kernel,wsl,compiler,samples_min,"
    "samples_max,point_budget_s,ci_target\n";

static void positive(struct csv_row *row, int value)
{
    csv_positive(row, value > 0 ? (uint64_t)value : 0);
}

/* 1, 0, or missing where the value is below 0. */
static void yes_or_no(struct csv_row *row, int value)
{
    csv_integer(row, value < 0 ? UNKNOWN : (uint64_t)(value != 0));
}

static void missing(struct csv_row *row, int fields)
{
    while (fields-- > 0)
        csv_missing(row);
}

int machine_write(const struct machine *machine, const char *folder, const char *run, const char *slug, bool complete)
{
    const struct device_properties *device = &machine->device;
    const struct settings *settings = machine->settings;
    bool gpu = !strcmp(device->kind, "cuda");
    char date[32], words[2048], compute[32] = "";
    struct csv_row row = {.length = 0};
    struct csv_file file;
    struct tm utc;

    gmtime_r(&machine->started, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    int used = snprintf(words, sizeof words, "%s", settings->verb->name);
    for (int i = 0; i < settings->argc && used < (int)sizeof words; i++)
        used += snprintf(words + used, sizeof words - (size_t)used, " %s", settings->argv[i]);
    if (device->compute_major > 0)
        snprintf(compute, sizeof compute, "%d.%d", device->compute_major, device->compute_minor);

    csv_integer(&row, CSV_SCHEMA);
    csv_text(&row, run);
    csv_text(&row, slug);
    csv_text(&row, date);
    csv_text(&row, SCANBENCH_VERSION);
    csv_text(&row, SCANBENCH_COMMIT);
    yes_or_no(&row, SCANBENCH_COMMIT[0] ? SCANBENCH_DIRTY : -1);
    csv_text(&row, words);
    csv_integer(&row, settings->seed);
    csv_text(&row, gpu ? device->name : "");
    csv_text(&row, compute);
    positive(&row, device->sm_count);
    positive(&row, device->sm_clock_max_mhz);
    positive(&row, device->mem_clock_max_mhz);
    positive(&row, device->mem_bus_bits);
    csv_number(&row, machine_peak_gb_per_s(device));
    csv_number(&row, machine->copy_gb_per_s);
    missing(&row, 2); /* h2d_gb_per_s, d2h_gb_per_s */
    csv_positive(&row, device->l2_bytes);
    csv_positive(&row, device->memory_bytes);
    yes_or_no(&row, gpu ? device->ecc : -1);
    csv_text(&row, device->driver);
    csv_text(&row, device->runtime);
    csv_text(&row, device->nvcc);
    csv_text(&row, device->cub);
    csv_text(&row, device->architectures);
    missing(&row, 3); /* power_limit_w, temp_start_c, temp_end_c */
    csv_number(&row, machine->event_resolution_s > 0 ? machine->event_resolution_s : NAN);
    missing(&row, 3); /* event_pair_s, gate_s, empty_kernel_s */
    csv_text(&row, machine->host_cpu);
    positive(&row, machine->host_cores);
    csv_text(&row, machine->os);
    csv_text(&row, machine->kernel);
    yes_or_no(&row, machine->wsl);
    csv_text(&row, machine->compiler);
    positive(&row, settings->min_samples);
    positive(&row, settings->max_samples);
    csv_number(&row, settings->budget_s);
    csv_number(&row, TIMER_CI_TARGET);

    if (csv_open(&file, folder, "machine.csv", machine_header))
        return -1;
    if (csv_append(&file, &row)) {
        csv_abandon(&file);
        return -1;
    }
    if (complete)
        return csv_complete(&file);
    csv_abandon(&file);
    return 0;
}
