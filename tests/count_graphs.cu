/* SPDX-License-Identifier: MIT */
/* In the count build a replayed graph counts as its launches do, and capturing one counts nothing. */
#include "counting.cuh"
extern "C" {
#include "registry.h"
}

constexpr uint64_t N = 5000;

/* Where blocks wait for each other, how often they look is a matter of the order, which goes on from launch to launch:
 * there, what is written and what is done to shared memory must be the same. */
static bool equal(const struct launch_counts *a, const struct launch_counts *b, bool orders_differ)
{
    if (strcmp(a->kernel, b->kernel) || a->blocks != b->blocks || a->threads_launched != b->threads_launched)
        return false;
    if (orders_differ && a->counts.atomics && b->counts.atomics)
        return a->counts.shared_loads == b->counts.shared_loads && a->counts.shared_stores == b->counts.shared_stores &&
               a->counts.barriers == b->counts.barriers;
    return a->active_threads == b->active_threads && !memcmp(&a->counts, &b->counts, sizeof a->counts);
}

/* Counts of what f() launches, in `list`. */
template <class F> static int counted(struct launch_counts *list, int room, F f)
{
    const struct launch_counts *launches;
    counter->begin(true);
    f();
    counter->end();
    const int count = counter->launches(&launches);
    for (int i = 0; i < count && i < room; i++)
        list[i] = launches[i];
    return count;
}

static void test_algorithm(const struct algorithm *a, const char *order, bool shuffled)
{
    enum { MOST = 64 };
    static struct launch_counts direct[MOST], replayed[MOST], none[1];
    const struct report *reports;
    char why[600] = "", name[100];
    const bool copies = a->kinds == COPY;
    struct problem p = {
        .n = N, .type = I32, .op = copies ? NONE : SUM, .kind = copies ? COPY : EXCLUSIVE, .threads = a->threads[0]};
    p.in = filled<int>(N, 3);
    p.out = unset<int>(N);
    p.workspace = unset<char>(a->workspace ? a->workspace(&p) : 0);
    if (a->prepare)
        a->prepare(&p);
    struct device_graph *graph = nullptr;
    const int launches = counted(direct, MOST, [&] { a->run(&p); });
    const int captured = counted(none, 1, [&] { graph = device_graph_capture(a, &p, why, sizeof why); });
    if (graph) {
        const int again = counted(replayed, MOST, [&] { device_graph_replay(graph); });
        if (captured)
            snprintf(why, sizeof why, "capturing counts %d launches", captured);
        else if (counter->reports(&reports))
            snprintf(why, sizeof why, "it reports: %s", reports[0].text);
        else if (again != launches || launches > MOST)
            snprintf(why, sizeof why, "%d launches replayed, %d direct", again, launches);
        for (int i = 0; i < launches && !*why; i++)
            if (!equal(&direct[i], &replayed[i], shuffled))
                snprintf(why, sizeof why, "launch %d, %s, has other counts", i, direct[i].kernel);
        device_graph_destroy(graph);
    }
    if (device_error())
        snprintf(why, sizeof why, "%s", device_error_text());
    snprintf(name, sizeof name, "%s, %s: %d launches count the same when they are replayed", a->name, order, launches);
    result(name, why);
}

static void test_all()
{
    for (const struct algorithm *const *a = registry(); *a; a++)
        if ((*a)->run && (*a)->runs_on == DEVICE && !(*a)->synchronises)
            for (int order : {0, 4}) {
                reopen(&orders[order]);
                test_algorithm(*a, orders[order].name, order > 0);
            }
}

int main(void)
{
    return run_tests("count graphs", test_all);
}
