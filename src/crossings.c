/* SPDX-License-Identifier: MIT */
#include "crossings.h"
#include "registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1, LINES_FOR_PEOPLE = 24, LINES_WITHOUT_CROSSING = 12 };

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {"crosses", "always-a", "always-b", "tie"};
    return names[verdict];
}

/* ------------------------------------------------------------------------------------------------ one pair */

/* -1 if a is wholly faster, 1 if b is, 0 if the intervals touch or one is missing. */
static int wholly_faster(const struct speed *a, const struct speed *b)
{
    if (!(a->lo <= a->hi && b->lo <= b->hi))
        return 0;
    return a->hi < b->lo ? -1 : b->hi < a->lo ? 1 : 0;
}

static double log_ratio(const struct speed *a, const struct speed *b)
{
    return log(a->median) - log(b->median);
}

/* a[0..steps] and b[0..steps] at the same sizes, the ends decided for opposite sides, hence their medians too. */
static double estimate(const struct speed *const *a, const struct speed *const *b, int steps)
{
    double first = NAN, last = NAN;
    for (int i = 0; i < steps; i++) {
        double here = log_ratio(a[i], b[i]), next = log_ratio(a[i + 1], b[i + 1]);
        if ((here < 0) == (next < 0))
            continue;
        double x = log((double)a[i]->n), width = log((double)a[i + 1]->n) - x;
        last = x + width * here / (here - next);
        if (isnan(first))
            first = last;
    }
    return exp((first + last) / 2);
}

int crossings_find(const struct speed *a, int a_count, const struct speed *b, int b_count, struct crossing *crossings,
                   enum verdict *verdict)
{
    int most = a_count < b_count ? a_count : b_count, common = 0, crossed = 0, decided_at = -1, decided = 0;
    const struct speed **left = malloc(((size_t)most * 2 + 1) * sizeof *left), **right = left + most;
    *verdict = TIE;
    if (!left)
        return -1;
    for (int i = 0, j = 0; i < a_count && j < b_count;) {
        if (a[i].n < b[j].n) {
            i++;
        } else if (a[i].n > b[j].n) {
            j++;
        } else {
            left[common] = &a[i++];
            right[common++] = &b[j++];
        }
    }
    for (int i = 0; i < common; i++) {
        int now = wholly_faster(left[i], right[i]);
        if (!now)
            continue;
        if (decided && now != decided)
            crossings[crossed++] = (struct crossing){
                .a_below = decided < 0,
                .last_n_below = left[decided_at]->n,
                .first_n_above = left[i]->n,
                .n_estimate = estimate(left + decided_at, right + decided_at, i - decided_at),
            };
        decided = now;
        decided_at = i;
    }
    free(left);
    if (decided)
        *verdict = crossed ? CROSSES : decided < 0 ? ALWAYS_A : ALWAYS_B;
    return common ? crossed : -1;
}

/* ------------------------------------------------------------------------------------------------ all pairs of a run
 */

enum clock { DEVICE_CLOCK, HOST_CLOCK, CLOCKS };
static const char *const clock_names[CLOCKS] = {"device", "host"};

struct group {
    const char *device, *kind, *type, *op, *launch, *cache;
    enum clock clock;
    int number; /* 1, 2, ... */
};

struct series {
    const char *algorithm;
    const char *device;
    struct speed *speeds;
    int count;
};

/* Two algorithms of a group, at the `sizes` sizes from least_n to most_n that both have; at `decided` of them one is
 * wholly faster. */
struct pair {
    const char *a, *b;
    const struct crossing *crossings;
    int count;
    enum verdict verdict;
    uint64_t least_n, most_n;
    int sizes, decided;
};

/* What is done with a pair. Returns non-zero to stop. */
typedef int visit(void *arg, const struct group *group, const struct pair *pair);

static bool on_host(const char *device)
{
    return !strcmp(device, "host");
}

static bool takes_part(const struct result *row)
{
    return result_has_time(row) && strcmp(row->kind, "copy") != 0;
}

static bool same_mode(const struct result *row, const struct group *group)
{
    return !strcmp(row->launch, group->launch) && !strcmp(row->cache, group->cache);
}

static bool same_scan(const struct result *row, const struct group *group)
{
    return !strcmp(row->kind, group->kind) && !strcmp(row->type, group->type) && !strcmp(row->op, group->op);
}

static int list_place(const char *algorithm)
{
    const struct algorithm *const *all = registry();
    int i = 0;
    while (all[i] && strcmp(all[i]->name, algorithm) != 0)
        i++;
    return i;
}

/* In list order; those of another version behind the known ones, by name. */
static int compare_algorithms(const char *a, const char *b)
{
    int left = list_place(a), right = list_place(b);
    return left != right ? left - right : strcmp(a, b);
}

static struct speed speed_of(const struct result *row, enum clock clock)
{
    /* The only clock of a host algorithm is the host's; it stands in the device's columns. */
    const struct timing *timing = &row->device_time;
    if (clock == HOST_CLOCK && !(on_host(row->device) && isnan(row->host_time.median)))
        timing = &row->host_time;
    struct speed speed = {.n = row->n, .lo = HUGE_VAL, .median = timing->median, .hi = -HUGE_VAL};
    if (!isnan(timing->ci_lo) && !isnan(timing->ci_hi)) {
        speed.lo = timing->ci_lo;
        speed.hi = timing->ci_hi;
    } else if (timing->samples >= 2 && !isnan(timing->min) && !isnan(timing->max)) {
        speed.lo = timing->min;
        speed.hi = timing->max;
    }
    return speed;
}

static int compare_speeds(const void *left, const void *right)
{
    const struct speed *a = left, *b = right;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return (a->median > b->median) - (a->median < b->median);
}

/* A host algorithm is timed with warm caches, whatever the device's are: none takes part among cold ones. */
static bool warm_among_cold(const struct result *row, const struct group *group)
{
    return on_host(row->device) && !strcmp(group->cache, "cold") && strcmp(row->cache, "cold") != 0;
}

/* The algorithm's medians in this group, ascending in n, the fastest block size at each. */
static int collect(const struct results *results, const struct group *group, struct series *series)
{
    bool exact = false; /* has a host algorithm rows in this very mode? */
    for (int i = 0; i < results->count && !exact; i++) {
        const struct result *row = &results->rows[i];
        exact = on_host(row->device) && takes_part(row) && same_scan(row, group) && same_mode(row, group) &&
                !strcmp(row->algorithm, series->algorithm);
    }
    series->speeds = malloc(((size_t)results->count + 1) * sizeof *series->speeds);
    if (!series->speeds)
        return -1;
    int found = 0;
    for (int i = 0; i < results->count; i++) {
        const struct result *row = &results->rows[i];
        if (!takes_part(row) || !same_scan(row, group) || strcmp(row->algorithm, series->algorithm) != 0 ||
            warm_among_cold(row, group))
            continue;
        bool host = on_host(row->device);
        if (host ? exact && !same_mode(row, group) : strcmp(row->device, group->device) != 0 || !same_mode(row, group))
            continue;
        struct speed speed = speed_of(row, group->clock);
        if (isnan(speed.median))
            continue;
        series->device = row->device;
        series->speeds[found++] = speed;
    }
    qsort(series->speeds, (size_t)found, sizeof *series->speeds, compare_speeds);
    series->count = 0;
    for (int i = 0; i < found; i++)
        if (!series->count || series->speeds[series->count - 1].n != series->speeds[i].n)
            series->speeds[series->count++] = series->speeds[i];
    return 0;
}

static int has_interval(const struct series *series)
{
    for (int i = 0; i < series->count; i++)
        if (series->speeds[i].lo <= series->speeds[i].hi)
            return 1;
    return 0;
}

static void measure_pair(const struct series *a, const struct series *b, struct pair *pair)
{
    for (int i = 0, j = 0; i < a->count && j < b->count;) {
        const struct speed *left = &a->speeds[i], *right = &b->speeds[j];
        i += left->n <= right->n;
        j += right->n <= left->n;
        if (left->n != right->n)
            continue;
        if (!pair->sizes++)
            pair->least_n = left->n;
        pair->most_n = left->n;
        pair->decided += wholly_faster(left, right) != 0;
    }
}

static int visit_group(const struct results *results, const struct group *group, const char *const *names, int count,
                       visit *visitor, void *arg)
{
    struct series *series = calloc((size_t)count + 1, sizeof *series);
    struct crossing *crossings = malloc(((size_t)results->count + 1) * sizeof *crossings);
    int stop = series && crossings ? 0 : -1;
    for (int i = 0; i < count && !stop; i++) {
        series[i].algorithm = names[i];
        stop = collect(results, group, &series[i]);
    }
    for (int a = 0; a < count && !stop; a++) {
        for (int b = a + 1; b < count && !stop; b++) {
            if (!has_interval(&series[a]) || !has_interval(&series[b]))
                continue;
            if (on_host(series[a].device) && on_host(series[b].device) && !on_host(group->device))
                continue; /* told once, in the group of the host */
            struct pair pair = {.a = names[a], .b = names[b], .crossings = crossings};
            pair.count = crossings_find(series[a].speeds, series[a].count, series[b].speeds, series[b].count, crossings,
                                        &pair.verdict);
            measure_pair(&series[a], &series[b], &pair);
            if (pair.count >= 0)
                stop = visitor(arg, group, &pair);
        }
    }
    for (int i = 0; series && i < count; i++)
        free(series[i].speeds);
    free(series);
    free(crossings);
    return stop;
}

/* The names of the run in list order. Returns their number. */
static int list_names(const struct results *results, const char **names)
{
    int count = 0;
    for (int i = 0; i < results->count; i++) {
        const char *name = results->rows[i].algorithm;
        int at = 0;
        while (at < count && strcmp(names[at], name) != 0)
            at++;
        if (at < count)
            continue;
        for (at = count++; at > 0 && compare_algorithms(names[at - 1], name) > 0; at--)
            names[at] = names[at - 1];
        names[at] = name;
    }
    return count;
}

static int place_in(const char *const *words, const char *word)
{
    int i = 0;
    while (words[i] && strcmp(words[i], word) != 0)
        i++;
    return i;
}

/* The order in which groups are told: the usual one first, whatever the order of the rows. */
static int compare_groups(const void *left, const void *right)
{
    static const char *const devices[] = {"cuda", "cpu", "host", NULL},
                             *const kinds[] = {"exclusive", "inclusive", NULL},
                             *const types[] = {"i32", "i64", "f32", "f64", NULL},
                             *const ops[] = {"sum", "max", "affine", NULL},
                             *const launches[] = {"stream", "graph", NULL}, *const caches[] = {"warm", "cold", NULL};
    const struct group *a = left, *b = right;
    const struct {
        const char *const *words;
        const char *a, *b;
    } keys[] = {{devices, a->device, b->device},  {kinds, a->kind, b->kind},
                {types, a->type, b->type},        {ops, a->op, b->op},
                {launches, a->launch, b->launch}, {caches, a->cache, b->cache}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int difference = place_in(keys[i].words, keys[i].a) - place_in(keys[i].words, keys[i].b);
        if (!difference)
            difference = strcmp(keys[i].a, keys[i].b);
        if (difference)
            return difference;
    }
    return 0;
}

/* The groups that have rows, without their clock. Returns their number. */
static int list_groups(const struct results *results, struct group *groups)
{
    int count = 0;
    for (int i = 0; i < results->count; i++) {
        const struct result *row = &results->rows[i];
        struct group group = {row->device, row->kind, row->type, row->op, row->launch, row->cache, DEVICE_CLOCK, 0};
        bool seen = !takes_part(row);
        for (int j = 0; j < count && !seen; j++)
            seen = !compare_groups(&groups[j], &group);
        if (!seen)
            groups[count++] = group;
    }
    qsort(groups, (size_t)count, sizeof *groups, compare_groups);
    return count;
}

static int visit_pairs(const struct results *results, visit *visitor, void *arg)
{
    const char **names = malloc(((size_t)results->count + 1) * sizeof *names);
    struct group *groups = malloc(((size_t)results->count + 1) * sizeof *groups);
    int stop = names && groups ? 0 : -1;
    int count = stop ? 0 : list_names(results, names), group_count = stop ? 0 : list_groups(results, groups);
    for (int i = 0; i < group_count && !stop; i++)
        for (int clock = 0; clock < CLOCKS && !stop; clock++) {
            groups[i].clock = (enum clock)clock;
            groups[i].number = CLOCKS * i + clock + 1;
            stop = visit_group(results, &groups[i], names, count, visitor, arg);
        }
    free(names);
    free(groups);
    return stop;
}

/* ------------------------------------------------------------------------------------------------ as a file */

struct csv {
    const struct results *results;
    FILE *out;
};

static int write_csv(void *arg, const struct group *group, const struct pair *pair)
{
    const struct csv *csv = arg;
    const char *a = pair->a, *b = pair->b;
    for (int i = 0; i < (pair->count ? pair->count : 1); i++) {
        fprintf(csv->out, "%d,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,", SCHEMA, csv->results->run, csv->results->machine,
                group->device, group->kind, group->type, group->op, group->launch, group->cache,
                clock_names[group->clock], a, b);
        const struct crossing *c = &pair->crossings[i];
        if (pair->count)
            fprintf(csv->out, "%d,%s,%s,%llu,%llu,%.9g,", i + 1, c->a_below ? a : b, c->a_below ? b : a,
                    (unsigned long long)c->last_n_below, (unsigned long long)c->first_n_above, c->n_estimate);
        else
            fputs(",,,,,,", csv->out);
        fprintf(csv->out, "%s\n", verdict_name(pair->verdict));
    }
    return 0;
}

int crossings_csv(const struct results *results, FILE *out)
{
    struct csv csv = {results, out};
    fputs("schema,run,machine,device,kind,type,op,launch,cache,clock,algorithm_a,algorithm_b,crossing,faster_below,"
          "faster_above,last_n_below,first_n_above,n_estimate,verdict\n",
          out);
    int failed = visit_pairs(results, write_csv, &csv);
    return failed || fflush(out) || ferror(out) ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------ for people */

enum { ROOM = 32 };

/* "2^17", or "100000" where n is no power of two. */
static const char *size_text(uint64_t n, char text[ROOM])
{
    if (n > 1 && (n & (n - 1)) == 0)
        snprintf(text, ROOM, "2^%d", log2_ceil(n));
    else
        snprintf(text, ROOM, "%llu", (unsigned long long)n);
    return text;
}

/* Two digits are what an estimate is worth: "about 1.4e5", "about 3100". */
static const char *about_text(double n, char text[ROOM])
{
    char digits[ROOM];
    snprintf(digits, sizeof digits, "%.1e", n);
    char *e = strchr(digits, 'e');
    int exponent = atoi(e + 1);
    *e = '\0';
    if (exponent < 4)
        snprintf(text, ROOM, "%.0f", atof(digits) * pow(10, exponent));
    else
        snprintf(text, ROOM, "%.3se%d", digits, exponent);
    return text;
}

/* Names of simulated machines end so (machine_slug). */
static bool is_simulated(const struct results *results)
{
    static const char ending[] = "simulated";
    size_t length = strlen(results->machine), end = sizeof ending - 1;
    return length >= end && !strcmp(results->machine + length - end, ending);
}

struct told {
    FILE *out;
    bool simulated;
    int group; /* the last one named */
    int lines, left_out;
    int pairs, crossings; /* on the device clock */
    bool on_device;       /* is a device's algorithm among them? */
    struct crossed {
        int group;
        const char *a, *b;
    } * crossed; /* pairs that cross on the device clock */
    int crossed_count;
    int host_only; /* crossings on the host's clock, of other pairs */
};

static bool next_group(struct told *told, const struct group *group)
{
    bool next = told->group != group->number;
    told->group = group->number;
    return next;
}

static int write_markdown(void *arg, const struct group *group, const struct pair *pair)
{
    struct told *told = arg;
    const struct crossing *crossings = pair->crossings;
    const char *a = pair->a, *b = pair->b;
    bool first = !told->group;
    if (next_group(told, group))
        fprintf(told->out,
                "%sDevice %s, %s clock%s; %s scan of %s, %s; %s launch, %s cache:\n\n"
                "| pair | faster | between | about |\n|---|---|---|---|\n",
                first ? "" : "\n", group->device, clock_names[group->clock], told->simulated ? " (SIMULATED)" : "",
                group->kind, group->type, group->op, group->launch, group->cache);
    char from[ROOM], to[ROOM], about[ROOM];
    for (int i = 0; i < pair->count; i++)
        fprintf(told->out, "| `%s`, `%s` | `%s`, then `%s` | %s and %s | %s |\n", a, b, crossings[i].a_below ? a : b,
                crossings[i].a_below ? b : a, size_text(crossings[i].last_n_below, from),
                size_text(crossings[i].first_n_above, to), about_text(crossings[i].n_estimate, about));
    if (pair->verdict == TIE)
        fprintf(told->out, "| `%s`, `%s` | no difference shown | | |\n", a, b);
    else if (!pair->count)
        fprintf(told->out, "| `%s`, `%s` | `%s` | | |\n", a, b, pair->verdict == ALWAYS_A ? a : b);
    return 0;
}

int crossings_markdown(const struct results *results, FILE *out)
{
    struct told told = {.out = out, .simulated = is_simulated(results)};
    int failed = visit_pairs(results, write_markdown, &told);
    if (!told.group)
        fputs("No two algorithms of this run can be compared.\n", out);
    return failed || fflush(out) || ferror(out) ? -1 : 0;
}

/* Pairs that are told of even where none overtakes the other: those whose crossovers charts mark by default. */
static bool is_marked(const char *algorithm)
{
    return !strcmp(algorithm, "serial") || !strcmp(algorithm, "hillis_steele") || !strcmp(algorithm, "blelloch");
}

/* Is there room for a line? Then its group is named, if it is not the last one that was. */
static bool begin_line(struct told *told, const struct group *group, int most)
{
    if (told->lines >= most) {
        told->left_out++;
        return false;
    }
    told->lines++;
    if (next_group(told, group))
        fprintf(told->out, "%s scan of %s, %s; %s; %s launch, %s cache:\n", group->kind, group->type, group->op,
                told->simulated                 ? "SIMULATED CLOCK of the device"
                : on_host(group->device)        ? "clock of the host"
                : !strcmp(group->cache, "cold") ? "clock of the device"
                                                : "clock of the device (host algorithms: the host's)",
                group->launch, group->cache);
    return true;
}

static void print_without_crossing(struct told *told, const struct pair *pair)
{
    char from[ROOM], to[ROOM];
    const char *faster = pair->verdict == ALWAYS_A ? pair->a : pair->b,
               *slower = pair->verdict == ALWAYS_A ? pair->b : pair->a;
    size_text(pair->least_n, from);
    size_text(pair->most_n, to);
    if (pair->verdict == TIE)
        fprintf(told->out, "  %s and %s: no difference shown from %s to %s\n", pair->a, pair->b, from, to);
    else if (pair->sizes == 1)
        fprintf(told->out, "  %s is faster than %s at n = %s\n", faster, slower, from);
    else if (pair->decided == pair->sizes)
        fprintf(told->out, "  %s is faster than %s at every n from %s to %s\n", faster, slower, from, to);
    else
        fprintf(told->out, "  %s is faster than %s at %d of %d sizes from %s to %s, slower at none\n", faster, slower,
                pair->decided, pair->sizes, from, to);
}

static int print_pair(void *arg, const struct group *group, const struct pair *pair)
{
    struct told *told = arg;
    int same_scan_and_mode = (group->number - 1) / CLOCKS;
    if (group->clock != DEVICE_CLOCK) {
        for (int i = 0; i < told->crossed_count; i++)
            if (told->crossed[i].group == same_scan_and_mode && !strcmp(told->crossed[i].a, pair->a) &&
                !strcmp(told->crossed[i].b, pair->b))
                return 0;
        told->host_only += pair->count;
        return 0;
    }
    told->pairs++;
    told->crossings += pair->count;
    told->on_device |= !on_host(group->device);
    if (!pair->count) {
        if (is_marked(pair->a) && is_marked(pair->b) && begin_line(told, group, LINES_WITHOUT_CROSSING))
            print_without_crossing(told, pair);
        return 0;
    }
    struct crossed *more = realloc(told->crossed, ((size_t)told->crossed_count + 1) * sizeof *more);
    if (!more)
        return -1;
    told->crossed = more;
    told->crossed[told->crossed_count++] = (struct crossed){same_scan_and_mode, pair->a, pair->b};
    char from[ROOM], to[ROOM], about[ROOM];
    for (int i = 0; i < pair->count; i++) {
        const struct crossing *c = &pair->crossings[i];
        if (begin_line(told, group, LINES_FOR_PEOPLE))
            fprintf(told->out, "  %s is overtaken by %s between %s and %s (about %s)\n", c->a_below ? pair->a : pair->b,
                    c->a_below ? pair->b : pair->a, size_text(c->last_n_below, from), size_text(c->first_n_above, to),
                    about_text(c->n_estimate, about));
    }
    return 0;
}

int crossings_print(const char *run_folder, FILE *out)
{
    struct results results;
    char why[8192];
    if (results_read(run_folder, &results, why, sizeof why)) {
        fprintf(stderr, "scanbench: %s\n", why);
        return -1;
    }
    struct told told = {.out = out, .simulated = is_simulated(&results)};
    int failed = visit_pairs(&results, print_pair, &told);
    if (told.left_out)
        fprintf(out, "  and %d more: scanbench crossover %s\n", told.left_out, run_folder);
    if (told.pairs && !told.crossings)
        fprintf(out, "on the %s clock no algorithm of this run overtakes another\n",
                told.on_device ? "device's" : "host's");
    if (told.host_only)
        fprintf(
            out,
            "on the host's clock (from the call to the end) %d more: see crossovers.csv, or scanbench crossover %s\n",
            told.host_only, run_folder);
    free(told.crossed);
    results_free(&results);
    if (failed || fflush(out) || ferror(out)) {
        fprintf(stderr, "scanbench: the crossovers of %s could not be written\n", run_folder);
        return -1;
    }
    return 0;
}
