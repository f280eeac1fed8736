/* SPDX-License-Identifier: MIT */
/* Who else is on the device while bench times points. */
#include "device/device.h"
#include "timer.h"
#include "verbs/bench.h"

#include <stdio.h>

static const double LOOK_AGAIN_S = 5; /* between two questions to NVML while points are timed */

static const char *another(const struct bench *bench, char *text, size_t size)
{
    long other = neighbours_other(&bench->neighbours);
    if (other > 0)
        snprintf(text, size, "another scanbench (process %ld)", other);
    else
        snprintf(text, size, "another scanbench");
    return text;
}

/* Is somebody else on the device? Remembered for the points that are timed meanwhile. */
bool bench_has_company(struct bench *bench)
{
    double now = timer_now_s();
    char line[200], who[60];
    if (now - bench->looked_s > LOOK_AGAIN_S) {
        machine_look_again(&bench->machine);
        bench->looked_s = now;
    }
    bool neighbour = neighbours_other(&bench->neighbours) != 0, crowded = bench->machine.state.other_processes > 0;
    if ((neighbour || crowded) && !bench->neighbour_told) {
        snprintf(line, sizeof line, "%s now %s this %s: rows timed meanwhile are flagged device-busy",
                 neighbour ? another(bench, who, sizeof who) : "another process",
                 neighbour ? "measures on" : "computes on", neighbour ? "device" : "GPU");
        bench_say(bench, line);
        bench->neighbour_told = true;
    }
    return neighbour || crowded;
}

/* A real device is shared with others; the clock of a simulated one is its own. */
static void enter(struct bench *bench, const struct device_properties *device)
{
    if (!device->simulated && bench->neighbours.fd < 0)
        neighbours_enter(&bench->neighbours, NEIGHBOURS_PLACE, device->uuid[0] ? device->uuid : device_kind());
}

/* Before anything is measured: others that begin now see this run, and those that are there are in its overheads. */
void bench_on_open(void *arg, const struct worker_hello *hello)
{
    struct bench *bench = arg;
    enter(bench, &hello->properties);
    bench->met_early = neighbours_other(&bench->neighbours) != 0;
}

void bench_meet_neighbours(struct bench *bench)
{
    char line[200], who[60];
    enter(bench, &bench->machine.device);
    bool there = neighbours_other(&bench->neighbours) != 0;
    if (!there && !bench->met_early)
        return;
    snprintf(line, sizeof line, "%s %s on this device: times%s are not its own", another(bench, who, sizeof who),
             there ? "measures" : "measured", bench->met_early ? ", and the overheads in machine.csv," : "");
    bench_say(bench, line);
    bench->neighbour_told |= there;
}
