/* SPDX-License-Identifier: MIT */
/* What is wrong with a kernel, each once, with the lines of its source. */
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/count/seen.h"

constexpr int MOST_REPORTS = 200; /* what comes behind them is counted only */

static struct report reports[MOST_REPORTS];
static int report_count;

/* What has been reported since reports_clear(). */
struct reported {
    enum report_kind kind;
    char kernel[sizeof(launch_counts::kernel)]; /* itself: the list of launches moves as it grows */
    uintptr_t site, other_site;
};
static struct reported reported[4 * MOST_REPORTS];
static int reported_count;

static const char *const kind_names[] = {"race-shared",       "race-global",   "out-of-bounds",
                                         "misaligned",        "host-pointer",  "uninitialised",
                                         "divergent-barrier", "warp-mismatch", "thread-ended"};

void reports_clear(void)
{
    report_count = reported_count = 0;
}

int reports_list(const struct report **list)
{
    *list = reports;
    return report_count;
}

static void count_report(enum report_kind kind)
{
    struct counts *counts = &counted->counts;
    switch (kind) {
    case RACE_SHARED:
    case RACE_GLOBAL: counts->races++; break;
    case OUT_OF_BOUNDS:
    case MISALIGNED:
    case HOST_POINTER: counts->out_of_bounds++; break;
    case UNINITIALISED: counts->uninitialised++; break;
    case DIVERGENT_BARRIER:
    case WARP_MISMATCH:
    case THREAD_ENDED: counts->divergent_barriers++; break;
    }
}

bool report_is_new(enum report_kind kind, uintptr_t site, uintptr_t other_site)
{
    for (int i = 0; i < reported_count; i++) {
        const struct reported *r = &reported[i];
        if (r->kind == kind && r->site == site && r->other_site == other_site && !strcmp(r->kernel, launch_name))
            return false;
    }
    if (reported_count == 4 * MOST_REPORTS)
        return false;
    struct reported *r = &reported[reported_count++];
    *r = {kind, "", site, other_site};
    snprintf(r->kernel, sizeof r->kernel, "%s", launch_name);
    count_report(kind);
    return true;
}

void report_add(enum report_kind kind, const char *format, ...)
{
    if (report_count == MOST_REPORTS)
        return;
    struct report *report = &reports[report_count++];
    snprintf(report->kind, sizeof report->kind, "%s", kind_names[kind]);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->text, sizeof report->text, format, arguments);
    va_end(arguments);
}

/* ---------------------------------------------------------------------------------------------- places */

/* Sites of requests, numbered as they come; beyond 2046 in a launch they share the last number, that of no site. */
static uintptr_t sites[1 << 11];
static unsigned site_count = 1;
static uint16_t site_table[1 << 13]; /* open addressing */

uint16_t place_of(uintptr_t site)
{
    unsigned at = unsigned((site * UINT64_C(0x9e3779b97f4a7c15)) >> 51);
    while (site_table[at] && sites[site_table[at]] != site)
        at = (at + 1) % (1 << 13);
    if (!site_table[at]) {
        if (site_count == (1 << 11) - 1)
            return uint16_t(site_count);
        sites[site_count] = site;
        site_table[at] = uint16_t(site_count++);
    }
    return site_table[at];
}

uintptr_t site_of(uint16_t place)
{
    return sites[place];
}

bool places_renew(void)
{
    if (site_count < 1 << 10)
        return false;
    site_count = 1;
    memset(site_table, 0, sizeof site_table);
    return true;
}

static int load_address(struct dl_phdr_info *info, size_t, void *address)
{
    *static_cast<uintptr_t *>(address) = info->dlpi_addr;
    return 1; /* the first is the program itself */
}

/* A place in the source as "block_scan.cu:66": of the inlined calls at the site the innermost that is not the CPU
 * device's own. */
static void find_line(uintptr_t site, char *text, size_t size)
{
    uintptr_t base = 0;
    char command[128], line[1024];
    dl_iterate_phdr(load_address, &base);
    snprintf(text, size, "%p", reinterpret_cast<void *>(site - base));
    /* The call lies before the address it returns to. */
    snprintf(command, sizeof command, "addr2line -i -e /proc/%d/exe 0x%llx 2>/dev/null", int(getpid()),
             static_cast<unsigned long long>(site - base - 1));
    FILE *lines = popen(command, "r");
    while (lines && fgets(line, sizeof line, lines)) {
        line[strcspn(line, " \n")] = '\0';
        const char *name = strrchr(line, '/');
        if (line[0] == '?' || strstr(line, "src/device/") || strstr(line, "src/operators.") || !name)
            continue;
        snprintf(text, size, "%s", name + 1);
        break;
    }
    while (lines && fgets(line, sizeof line, lines))
        ;
    if (lines)
        pclose(lines);
}

const char *place_text(uintptr_t site)
{
    static struct {
        uintptr_t site;
        char text[96];
    } known[64];
    static unsigned next;
    if (!site)
        return "one of too many places";
    for (unsigned i = 0; i < 64; i++)
        if (known[i].site == site)
            return known[i].text;
    const unsigned i = next++ % 64;
    known[i].site = site;
    find_line(site, known[i].text, sizeof known[i].text);
    return known[i].text;
}

const char *memory_text(const struct counting *c, uintptr_t address, unsigned bytes)
{
    static char texts[4][96];
    static unsigned next;
    char *text = texts[next++ % 4];
    const uintptr_t offset = address - reinterpret_cast<uintptr_t>(c->block->shared);
    for (unsigned i = 0; i < shared_declaration_count; i++) {
        const struct shared_declaration *d = &shared_declarations[i];
        if (offset - d->offset < d->element * d->count) {
            snprintf(text, sizeof texts[0], "%s[%zu]", d->name, (offset - d->offset) / d->element);
            return text;
        }
    }
    snprintf(text, sizeof texts[0], "%u bytes of %s memory", bytes, offset < SHARED_BYTES ? "shared" : "global");
    return text;
}
