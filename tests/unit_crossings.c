/* SPDX-License-Identifier: MIT */
/* Crossings of pairs whose truth is known. */
#include "crossings.h"
#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 10, LAST = 24, SIZES = LAST - FIRST + 1 };

static int failures;

static void report(const char *name, const char *why)
{
    if (why)
        printf("not ok %s: %s\n", name, why);
    else
        printf("ok %s\n", name);
    failures += why != NULL;
}

/* n = 2^10..2^24 at floor_s + n * slope_s, known within a relative half width. */
static void line(struct speed *speeds, double floor_s, double slope_s, double half_width)
{
    for (int i = 0; i < SIZES; i++) {
        uint64_t n = UINT64_C(1) << (FIRST + i);
        double t = floor_s + (double)n * slope_s;
        speeds[i] = (struct speed){n, t * (1 - half_width), t, t * (1 + half_width)};
    }
}

static const char *expect(int crossed, int wanted, enum verdict verdict, enum verdict wanted_verdict)
{
    static char why[120];
    if (crossed == wanted && verdict == wanted_verdict)
        return NULL;
    snprintf(why, sizeof why, "%d crossings and \"%s\", not %d and \"%s\"", crossed, verdict_name(verdict), wanted,
             verdict_name(wanted_verdict));
    return why;
}

static const char *holds(const struct crossing *c, double truth)
{
    static char why[160];
    if ((double)c->last_n_below <= truth && truth <= (double)c->first_n_above &&
        (double)c->last_n_below <= c->n_estimate && c->n_estimate <= (double)c->first_n_above)
        return NULL;
    snprintf(why, sizeof why, "%llu..%llu (%.6g) does not hold %.6g", (unsigned long long)c->last_n_below,
             (unsigned long long)c->first_n_above, c->n_estimate, truth);
    return why;
}

static void always_and_tie(void)
{
    struct speed a[SIZES], b[SIZES];
    struct crossing crossings[SIZES];
    enum verdict verdict;
    line(a, 1e-6, 1e-10, 0.01);
    line(b, 2e-6, 2e-10, 0.01);
    int crossed = crossings_find(a, SIZES, b, SIZES, crossings, &verdict);
    report("always-a", expect(crossed, 0, verdict, ALWAYS_A));
    crossed = crossings_find(b, SIZES, a, SIZES, crossings, &verdict);
    report("always-b", expect(crossed, 0, verdict, ALWAYS_B));
    line(b, 1.005e-6, 1.005e-10, 0.01);
    crossed = crossings_find(a, SIZES, b, SIZES, crossings, &verdict);
    report("tie", expect(crossed, 0, verdict, TIE));
    line(b, 1e-6, 1e-10, 0.01);
    b[3].lo = b[3].median = b[3].hi = a[3].hi * 2;
    crossed = crossings_find(a, SIZES, b, SIZES, crossings, &verdict);
    report("one-size-decides", expect(crossed, 0, verdict, ALWAYS_A));
    for (int i = 0; i < SIZES; i++)
        b[i].n += 1;
    crossed = crossings_find(a, SIZES, b, SIZES, crossings, &verdict);
    report("no-common-size", crossed == -1 ? NULL : "compared sizes that only one of them has");
}

static void one(void)
{
    struct speed a[SIZES], b[SIZES];
    struct crossing crossings[SIZES];
    enum verdict verdict;
    double truth = 9e-6 / 0.9e-10; /* 1e5 */
    line(a, 1e-6, 1e-10, 0.001);
    line(b, 10e-6, 0.1e-10, 0.001);
    int crossed = crossings_find(a, SIZES, b, SIZES, crossings, &verdict);
    const char *why = expect(crossed, 1, verdict, CROSSES);
    report("one-crossing", why ? why : holds(&crossings[0], truth));
    report("one-crossing-neighbours",
           crossed == 1 && crossings[0].last_n_below == 1 << 16 && crossings[0].first_n_above == 1 << 17
               ? NULL
               : "not 2^16..2^17");
    report("one-crossing-estimate",
           crossed == 1 && fabs(crossings[0].n_estimate / truth - 1) < 0.05 ? NULL : "more than 5 % off");
    report("one-crossing-order", crossed == 1 && crossings[0].a_below ? NULL : "a is not the one below");

    /* Wide intervals: undecided sizes lie between the two ends. */
    line(a, 1e-6, 1e-10, 0.6);
    line(b, 10e-6, 0.1e-10, 0.6);
    crossed = crossings_find(b, SIZES, a, SIZES, crossings, &verdict);
    why = expect(crossed, 1, verdict, CROSSES);
    report("wide-interval", why ? why : holds(&crossings[0], truth));
    report("wide-interval-is-wide",
           crossed == 1 && crossings[0].first_n_above > 2 * crossings[0].last_n_below && !crossings[0].a_below
               ? NULL
               : "neighbours, or the wrong order");

    /* A size that one of them lacks is left out. */
    line(a, 1e-6, 1e-10, 0.001);
    line(b, 10e-6, 0.1e-10, 0.001);
    memmove(&b[6], &b[8], (SIZES - 8) * sizeof *b);
    crossed = crossings_find(a, SIZES, b, SIZES - 2, crossings, &verdict);
    why = expect(crossed, 1, verdict, CROSSES);
    report("missing-sizes", why ? why : holds(&crossings[0], truth));
}

/* The host leads, is overtaken, leads again while the device's data leave its cache, and is overtaken for good. */
static void several(void)
{
    struct speed a[SIZES], b[SIZES];
    struct crossing crossings[SIZES];
    enum verdict verdict;
    line(a, 0, 1e-9, 0.01);
    for (int i = 0; i < SIZES; i++) {
        int k = FIRST + i;
        double t = a[i].median * (k <= 12 ? 2 : k <= 17 ? 0.5 : k <= 20 ? 1.5 : 0.7);
        b[i] = (struct speed){a[i].n, t * 0.99, t, t * 1.01};
    }
    static const int below[] = {12, 17, 20};
    int crossed = crossings_find(a, SIZES, b, SIZES, crossings, &verdict);
    const char *why = expect(crossed, 3, verdict, CROSSES);
    for (int i = 0; i < 3 && !why; i++) {
        if (crossings[i].a_below != (i != 1))
            why = "the wrong one leads";
        else if (crossings[i].last_n_below != UINT64_C(1) << below[i])
            why = "the wrong size";
        else
            why = holds(&crossings[i], (double)crossings[i].last_n_below * 1.4);
    }
    report("several-crossings", why);
}

static void without_interval(void)
{
    struct speed a[SIZES], b[SIZES];
    struct crossing crossings[SIZES];
    enum verdict verdict;
    line(a, 1e-6, 1e-10, 0.01);
    line(b, 2e-6, 2e-10, 0.01);
    for (int i = 0; i < SIZES; i++) {
        b[i].lo = HUGE_VAL;
        b[i].hi = -HUGE_VAL;
    }
    int crossed = crossings_find(a, SIZES, b, SIZES, crossings, &verdict);
    report("no-interval-no-verdict", expect(crossed, 0, verdict, TIE));
}

static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (rand() + 0.5) / (RAND_MAX + 1.0);
    return sum;
}

static void measure(struct speed *speeds, double floor_s, double slope_s, int samples)
{
    line(speeds, floor_s, slope_s, 0);
    for (int i = 0; i < SIZES; i++) {
        double values[64];
        for (int s = 0; s < samples; s++)
            values[s] = speeds[i].median * (1 + 0.03 * normal());
        struct summary summary = summarise(values, samples);
        bool interval = !isnan(summary.ci_lo);
        speeds[i].lo = interval ? summary.ci_lo : summary.min;
        speeds[i].median = summary.median;
        speeds[i].hi = interval ? summary.ci_hi : summary.max;
    }
}

/* Noisy runs whose medians cross once, at a place of their own each: is it in the interval, and is it one crossing? */
static void hold_the_truth(int samples, const char *name)
{
    enum { PAIRS = 1000 };
    int right = 0;
    srand(1);
    for (int pair = 0; pair < PAIRS; pair++) {
        struct speed a[SIZES], b[SIZES];
        struct crossing crossings[SIZES];
        enum verdict verdict;
        double truth = exp2(12 + 10 * (rand() / (RAND_MAX + 1.0)));
        measure(a, 1e-6, 1e-10, samples);
        measure(b, 1e-6 + truth * 0.8e-10, 0.2e-10, samples);
        int crossed = crossings_find(a, SIZES, b, SIZES, crossings, &verdict);
        right +=
            crossed == 1 && (double)crossings[0].last_n_below <= truth && truth <= (double)crossings[0].first_n_above;
    }
    char why[80];
    snprintf(why, sizeof why, "in %d of %d pairs only", right, PAIRS);
    report(name, right >= PAIRS * 95 / 100 ? NULL : why);
}

/* A run of serial, hillis_steele and blelloch at 2^10..2^14, warm and cold, is told of on both clocks. Device: blelloch
 * is faster throughout; host: hillis_steele is, up to 2^12. */
static void end_of_a_run(void)
{
    static const char wanted[] =
        "exclusive scan of i32, sum; clock of the device (host algorithms: the host's); stream launch, warm cache:\n"
        "  serial is faster than hillis_steele at every n from 2^10 to 2^14\n"
        "  serial is faster than blelloch at every n from 2^10 to 2^14\n"
        "  blelloch is faster than hillis_steele at 4 of 5 sizes from 2^10 to 2^14, slower at none\n"
        "exclusive scan of i32, sum; clock of the device; stream launch, cold cache:\n"
        "  blelloch is faster than hillis_steele at 4 of 5 sizes from 2^10 to 2^14, slower at none\n"
        "on the device's clock no algorithm of this run overtakes another\n"
        "on the host's clock (from the call to the end) 2 more: see crossovers.csv, or scanbench crossover ";
    char path[] = "/tmp/scanbench-crossings-XXXXXX", told[4096] = "";
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL, *out = tmpfile();
    if (!file || !out) {
        report("end-of-a-run", "no temporary file");
        return;
    }
    fputs(
        "schema,run,machine,device,algorithm,kind,type,op,n,threads,launch,cache,status,samples,device_min_s,device_q1_"
        "s,"
        "device_median_s,device_q3_s,device_max_s,device_ci_lo_s,device_ci_hi_s,host_samples,host_min_s,host_median_s,"
        "host_ci_lo_s,host_ci_hi_s\n",
        file);
    static const char *const names[] = {"serial", "hillis_steele", "blelloch"}, *const caches[] = {"warm", "cold"};
    for (int c = 0; c < 2; c++)
        for (int a = c; a < 3; a++)
            for (int k = 10; k <= 14; k++) {
                double device = a == 0 ? 1e-6 : a == 1 && k > 10 ? 3e-6 : 2e-6;
                double host = a == 0 ? 1e-6 : a == 1 ? 4e-6 * (k - 9) : 14e-6;
                fprintf(file, "1,r,m,%s,%s,exclusive,i32,sum,%d,,stream,%s,ok,30,,,%g,,,%g,%g,30,,%g,%g,%g\n",
                        a ? "cuda" : "host", names[a], 1 << k, caches[c], device, device * 0.99, device * 1.01, host,
                        host * 0.99, host * 1.01);
            }
    fclose(file);
    int failed = crossings_print(path, out);
    rewind(out);
    told[fread(told, 1, sizeof told - 1, out)] = '\0';
    fclose(out);
    unlink(path);
    report("end-of-a-run", failed || strncmp(told, wanted, sizeof wanted - 1) != 0 ? told : NULL);
}

int main(void)
{
    always_and_tie();
    one();
    several();
    without_interval();
    end_of_a_run();
    hold_the_truth(30, "interval-holds-the-truth-30-samples");
    hold_the_truth(5, "interval-holds-the-truth-5-samples");
    return failures != 0;
}
