/* SPDX-License-Identifier: MIT */
/* The command line: one table of options, from which they are parsed and explained. */
#include "settings.h"

#include "registry.h"
#include "verbs/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ELEMENTS (UINT64_C(1) << 48) /* so that no count of bytes, words or additions leaves 64 bits */

/* ------------------------------------------------------------------------------------------------ values */

/* Why a value is refused; the caller puts the option and the value in front. */
struct refusal {
    char why[600];
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct refusal *refusal, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(refusal->why, sizeof refusal->why, format, arguments);
    va_end(arguments);
    return false;
}

/* "a, b, c" of `count` names. */
static void join(char *text, size_t size, const char *const *names, int count)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", names[i]);
}

static bool refuse_name(struct refusal *refusal, const char *what, const char *wrong, const char *const *names,
                        int count)
{
    char all[400];
    const char *near = nearest_name(wrong, names, count);
    join(all, sizeof all, names, count);
    if (!*wrong)
        return refuse(refusal, "the name of a%s %s is missing; there are %s", strchr("aeiou", *what) ? "n" : "", what,
                      all);
    if (near)
        return refuse(refusal, "no %s is named \"%s\"; did you mean %s? (%s)", what, wrong, near, all);
    return refuse(refusal, "no %s is named \"%s\"; there are %s", what, wrong, all);
}

/* Calls `each` with every part of a comma list. */
static bool each_part(const char *text, bool (*each)(struct settings *, const char *part, struct refusal *),
                      struct settings *settings, struct refusal *refusal)
{
    for (const char *at = text;; at++) {
        char part[128];
        size_t length = strcspn(at, ",");
        if (length >= sizeof part)
            return refuse(refusal, "a name of %zu characters", length);
        memcpy(part, at, length);
        part[length] = '\0';
        if (!each(settings, part, refusal))
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

static bool parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *value, struct refusal *refusal)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 0);
    if (*text < '0' || *text > '9' || *end || errno || *value < low || *value > high)
        return refuse(refusal, "a whole number from %" PRIu64 " to %" PRIu64 " belongs here", low, high);
    return true;
}

static bool parse_int(const char *text, int low, int high, int *value, struct refusal *refusal)
{
    uint64_t wide;
    if (!parse_count(text, (uint64_t)low, (uint64_t)high, &wide, refusal))
        return false;
    *value = (int)wide;
    return true;
}

static bool parse_seconds(const char *text, double *value, struct refusal *refusal)
{
    char *end;
    *value = strtod(text, &end);
    if (!*text || *end || text[strspn(text, "0123456789.eE+-")] || !(*value > 0) || *value > 1e6)
        return refuse(refusal, "a number of seconds above 0, at most 1000000, belongs here");
    return true;
}

/* ------------------------------------------------------------------------------------------------ options */

static bool add_algorithm(struct settings *settings, const char *name, struct refusal *refusal)
{
    const struct algorithm *algorithm = registry_find(name);
    if (!algorithm) {
        int count = registry_count();
        const char **names = calloc((size_t)count + 1, sizeof *names);
        for (int i = 0; i < count; i++)
            names[i] = registry()[i]->name;
        names[count] = "all";
        refuse_name(refusal, "algorithm", name, names, count + 1);
        free(names);
        return false;
    }
    for (int i = 0; i < settings->algorithm_count; i++)
        if (settings->algorithms[i] == algorithm)
            return true;
    settings->algorithms[settings->algorithm_count++] = algorithm;
    return true;
}

/* Room for all of them; list order is that of the registry. */
static void choose_algorithms(struct settings *settings, bool all)
{
    int count = registry_count();
    const struct algorithm **chosen = calloc((size_t)count + 1, sizeof *chosen);
    int kept = 0;
    if (!chosen)
        abort();
    for (int i = 0; i < count; i++) {
        bool wanted = all;
        for (int j = 0; j < settings->algorithm_count && !wanted; j++)
            wanted = settings->algorithms[j] == registry()[i];
        if (wanted)
            chosen[kept++] = registry()[i];
    }
    free(settings->algorithms);
    settings->algorithms = chosen;
    settings->algorithm_count = kept;
}

static bool set_algorithms(struct settings *settings, const char *value, struct refusal *refusal)
{
    settings->algorithm_count = 0;
    settings->algorithms_given = false;
    if (!strcmp(value, "all")) {
        choose_algorithms(settings, true);
        return true;
    }
    choose_algorithms(settings, false);
    if (!each_part(value, add_algorithm, settings, refusal))
        return false;
    choose_algorithms(settings, false);
    settings->algorithms_given = true;
    return true;
}

static bool set_sizes(struct settings *settings, const char *value, struct refusal *refusal)
{
    free(settings->sizes);
    settings->sizes = NULL;
    settings->size_count = 0;
    if (!strcmp(value, "all"))
        return true;
    int count = sizes_parse(value, &settings->sizes, refusal->why, sizeof refusal->why);
    if (count < 0)
        return false;
    settings->size_count = count;
    if (settings->sizes[count - 1] > MOST_ELEMENTS)
        return refuse(refusal, "%" PRIu64 " is above 2^48 elements", settings->sizes[count - 1]);
    if (settings->sizes[0] == 0 && !strcmp(settings->verb->name, "bench"))
        return refuse(refusal, "a scan of 0 elements has no time: 1 or more (check takes 0)");
    if (settings->sizes[0] == 0 && !strcmp(settings->verb->name, "count"))
        return refuse(refusal, "a scan of 0 elements has nothing to count: 1 or more (check takes 0)");
    return true;
}

/* A set of named bits, for types, kinds and operators. */
struct named_bit {
    const char *name;
    unsigned bit;
};

static bool parse_set(const char *text, const char *what, const struct named_bit *bits, unsigned *set,
                      struct refusal *refusal)
{
    const char *names[8];
    int count = 0;
    unsigned all = 0;
    for (; bits[count].name; count++) {
        names[count] = bits[count].name;
        all |= bits[count].bit;
    }
    names[count] = "all";
    *set = 0;
    for (const char *at = text;; at++) {
        char part[64];
        size_t length = strcspn(at, ",");
        unsigned bit = 0;
        snprintf(part, sizeof part, "%.*s", length < sizeof part ? (int)length : 0, at);
        if (!strcmp(part, "all"))
            bit = all;
        for (int i = 0; i < count; i++)
            if (!strcmp(part, names[i]))
                bit = bits[i].bit;
        if (!bit)
            return refuse_name(refusal, what, part, names, count + 1);
        *set |= bit;
        at += length;
        if (!*at)
            return true;
    }
}

static bool set_types(struct settings *settings, const char *value, struct refusal *refusal)
{
    static const struct named_bit bits[] = {{"i32", I32}, {"i64", I64}, {"f32", F32}, {"f64", F64}, {NULL, 0}};
    return parse_set(value, "type", bits, &settings->types, refusal);
}

static bool set_kinds(struct settings *settings, const char *value, struct refusal *refusal)
{
    static const struct named_bit bits[] = {
        {"inclusive", INCLUSIVE}, {"exclusive", EXCLUSIVE}, {"copy", COPY}, {NULL, 0}};
    return parse_set(value, "kind", bits, &settings->kinds, refusal);
}

static bool set_ops(struct settings *settings, const char *value, struct refusal *refusal)
{
    static const struct named_bit bits[] = {{"sum", SUM}, {"max", MAX}, {"affine", AFFINE}, {NULL, 0}};
    return parse_set(value, "operator", bits, &settings->ops, refusal);
}

static bool set_launch(struct settings *settings, const char *value, struct refusal *refusal)
{
    static const struct named_bit bits[] = {
        {"stream", LAUNCH_STREAM}, {"graph", LAUNCH_GRAPH}, {"both", LAUNCH_STREAM | LAUNCH_GRAPH}, {NULL, 0}};
    return parse_set(value, "launch mode", bits, &settings->launches, refusal);
}

static bool set_cache(struct settings *settings, const char *value, struct refusal *refusal)
{
    static const struct named_bit bits[] = {
        {"warm", CACHE_WARM}, {"cold", CACHE_COLD}, {"both", CACHE_WARM | CACHE_COLD}, {NULL, 0}};
    return parse_set(value, "state of the cache", bits, &settings->caches, refusal);
}

static bool set_resume(struct settings *settings, const char *value, struct refusal *refusal)
{
    settings->resume = value;
    return *value ? true : refuse(refusal, "the folder of a run belongs here");
}

static bool set_simulate(struct settings *settings, const char *value, struct refusal *refusal)
{
    settings->device_options.simulate = value;
    return device_can_simulate(value, refusal->why, sizeof refusal->why);
}

static bool add_threads(struct settings *settings, const char *part, struct refusal *refusal)
{
    int threads;
    if (!parse_int(part, 1, 1024, &threads, refusal))
        return false;
    for (int i = 0; i < settings->thread_count; i++)
        if (settings->threads[i] == threads)
            return true;
    int *larger = realloc(settings->threads, (size_t)(settings->thread_count + 1) * sizeof *larger);
    if (!larger)
        abort();
    settings->threads = larger;
    settings->threads[settings->thread_count++] = threads;
    return true;
}

static bool set_threads(struct settings *settings, const char *value, struct refusal *refusal)
{
    settings->thread_count = 0;
    settings->all_threads = !strcmp(value, "all");
    return settings->all_threads || each_part(value, add_threads, settings, refusal);
}

static bool set_seed(struct settings *settings, const char *value, struct refusal *refusal)
{
    return parse_count(value, 0, UINT64_MAX, &settings->seed, refusal);
}

static bool set_device(struct settings *settings, const char *value, struct refusal *refusal)
{
    settings->device_given = true;
    return parse_int(value, 0, 1023, &settings->device, refusal);
}

static bool set_memory(struct settings *settings, const char *value, struct refusal *refusal)
{
    uint64_t mib;
    if (!parse_count(value, 1, UINT64_C(1) << 30, &mib, refusal))
        return false;
    settings->device_options.memory_bytes = mib << 20;
    return true;
}

static bool set_workers(struct settings *settings, const char *value, struct refusal *refusal)
{
    return parse_int(value, 1, 1024, &settings->device_options.workers, refusal);
}

static bool set_resident(struct settings *settings, const char *value, struct refusal *refusal)
{
    return parse_int(value, 1, 1 << 20, &settings->device_options.resident, refusal);
}

static bool set_schedule(struct settings *settings, const char *value, struct refusal *refusal)
{
    struct device_options *options = &settings->device_options;
    settings->schedule_given = true;
    settings->all_schedules = !strcmp(value, "all");
    if (settings->all_schedules && strcmp(settings->verb->name, "check") != 0)
        return refuse(refusal, "only check runs all schedules: ascending, descending or a seed belongs here");
    if (settings->all_schedules || !strcmp(value, "ascending")) {
        options->schedule = SCHEDULE_ASCENDING;
        return true;
    }
    if (!strcmp(value, "descending")) {
        options->schedule = SCHEDULE_DESCENDING;
        return true;
    }
    options->schedule = SCHEDULE_SHUFFLED;
    return parse_count(value, 0, UINT64_MAX, &options->seed, refusal) ||
           refuse(refusal, "ascending, descending, a whole number (a seed)%s belongs here",
                  strcmp(settings->verb->name, "check") ? "" : " or all");
}

static bool set_output(struct settings *settings, const char *value, struct refusal *refusal)
{
    settings->output = value;
    return *value ? true : refuse(refusal, "the name of a folder belongs here");
}

static bool set_machine(struct settings *settings, const char *value, struct refusal *refusal)
{
    settings->machine = value;
    size_t length = strlen(value);
    if (!length || length > 64 || value[0] == '.' || value[0] == '-' ||
        value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789._-")])
        return refuse(refusal, "a name of at most 64 of a-z 0-9 . _ - belongs here, not begun by . or -");
    return true;
}

static bool set_min_samples(struct settings *settings, const char *value, struct refusal *refusal)
{
    return parse_int(value, 1, 1000000, &settings->min_samples, refusal);
}

static bool set_max_samples(struct settings *settings, const char *value, struct refusal *refusal)
{
    return parse_int(value, 1, 1000000, &settings->max_samples, refusal);
}

static bool set_budget(struct settings *settings, const char *value, struct refusal *refusal)
{
    return parse_seconds(value, &settings->budget_s, refusal);
}

static bool set_limit(struct settings *settings, const char *value, struct refusal *refusal)
{
    return parse_seconds(value, &settings->limit_s, refusal);
}

static bool set_offset(struct settings *settings, const char *value, struct refusal *refusal)
{
    return parse_int(value, 0, 1, &settings->offset, refusal);
}

static bool set_values(struct settings *settings, const char *value, struct refusal *refusal)
{
    (void)refusal;
    settings->values = value;
    return true;
}

static bool set_input(struct settings *settings, const char *value, struct refusal *refusal)
{
    settings->input = value;
    return *value ? true : refuse(refusal, "the name of a file belongs here, or - for standard input");
}

static bool set_format(struct settings *settings, const char *value, struct refusal *refusal)
{
    settings->markdown = !strcmp(value, "markdown");
    settings->json = !strcmp(value, "json");
    return settings->markdown || settings->json || !strcmp(value, "plain") ||
           refuse(refusal, "plain, markdown or json belongs here");
}

#define SWITCH(field)                                                                                                  \
    static bool set_##field(struct settings *settings, const char *value, struct refusal *refusal)                     \
    {                                                                                                                  \
        (void)value, (void)refusal;                                                                                    \
        settings->field = true;                                                                                        \
        return true;                                                                                                   \
    }
SWITCH(quick)
SWITCH(dry_run)
SWITCH(samples)
SWITCH(profile)
SWITCH(no_gate)
SWITCH(in_place)
SWITCH(raw)
SWITCH(markdown)
SWITCH(latex)
SWITCH(table)
#undef SWITCH

/* A new option is one line here, and its name in the descriptor of each verb that takes it. */
static const struct option {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: a switch */
    const char *help;     /* defaults that depend on the verb are told by default_of */
    bool (*set)(struct settings *, const char *value, struct refusal *);
} options[] = {
    {"algorithms", 'a', "A,B", "algorithms, as in `scanbench list`, or all", set_algorithms},
    {"sizes", 'n', "LIST", "elements: 1000, 2^k, A:B (doubling), A:B:xK, A:B:+K, lists of these, or all", set_sizes},
    {"type", 't', "T,T", "element types: i32, i64, f32, f64 or all", set_types},
    {"kind", 0, "K,K", "inclusive, exclusive, copy (the ceiling; always with the others) or all", set_kinds},
    {"op", 0, "O,O", "operators: sum, max, affine (for tests, i32 and i64) or all", set_ops},
    {"threads", 0, "N,N", "threads per block, or all that an algorithm accepts", set_threads},
    {"seed", 0, "N", "of the input", set_seed},
    {"device", 'd', "N", "number of the GPU", set_device},
    {"output", 'o', "DIR", "folder that stands for results/", set_output},
    {"machine", 0, "NAME", "name of this machine in results/", set_machine},
    {"min-samples", 0, "N", "least samples of a point", set_min_samples},
    {"max-samples", 0, "N", "most samples of a point", set_max_samples},
    {"budget", 0, "SECONDS", "wall time", set_budget},
    {"limit", 0, "SECONDS", "wall time after which a point is ended as hung", set_limit},
    {"quick", 0, NULL, "fewer sizes and samples", set_quick},
    {"dry-run", 0, NULL, "print the plan, counts, memory and about how long it takes; touch no device", set_dry_run},
    {"launch", 0, "L", "how runs reach the device: stream, graph (captured once, replayed) or both", set_launch},
    {"cache", 0, "C", "what the caches hold before a run: warm (what the last one left), cold or both", set_cache},
    {"samples", 0, NULL, "keep every sample, a file a point below the run's samples/", set_samples},
    {"resume", 0, "DIR", "finish the run in this folder: what is missing or failed, with its options", set_resume},
    {"profile", 0, NULL, "run every point once between a profiler's start and stop; time and write nothing",
     set_profile},
    {"no-gate", 0, NULL, "do not hold the stream while work is queued", set_no_gate},
    {"memory", 0, "MIB", "CPU device: its memory", set_memory},
    {"workers", 0, "N", "CPU device: threads of the host that run blocks", set_workers},
    {"simulate", 0, "SPEC", "CPU device: the clock and the faults of a simulated GPU (docs/timing.md)", set_simulate},
    {"resident", 0, "N", "CPU device: most blocks at once per worker", set_resident},
    {"schedule", 0, "ORDER", "CPU device: order of threads and blocks: ascending, descending or a seed", set_schedule},
    {"in-place", 0, NULL, "let the output be the input, where the algorithm can", set_in_place},
    {"offset", 0, "0|1", "misalign input and output by so many elements", set_offset},
    {"values", 0, "V,V", "the numbers", set_values},
    {"input", 0, "FILE", "one number a line, or - for standard input", set_input},
    {"raw", 0, NULL, "binary in, binary out, in the byte order of this machine", set_raw},
    {"table", 0, NULL, "a table for people, and no files", set_table},
    {"markdown", 0, NULL, "a table in Markdown", set_markdown},
    {"format", 0, "F", "plain, markdown, or json for programs", set_format},
    {"latex", 0, NULL, "a table in LaTeX (booktabs)", set_latex},
};
enum { OPTIONS = sizeof options / sizeof *options };

static bool verb_takes(const struct verb *verb, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = verb->options; (at = strstr(at, name)); at += length)
        if ((at == verb->options || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

static const char *default_of(const struct verb *verb, const char *name)
{
    static const struct {
        const char *verb, *option, *text;
    } defaults[] = {
        {"scan", "algorithms", "the first of the list"},
        {"trace", "algorithms", "none: one is to be named"},
        {"", "algorithms", "all"},
        {"", "launch", "stream"},
        {"", "cache", "warm"},
        {"bench", "sizes", "2^10:2^28 on a GPU, 2^10:2^20 on the CPU device"},
        {"count", "sizes", "2^10:2^20"},
        {"trace", "sizes", "8, or as many as there are values"},
        {"check", "sizes", "every size at which an algorithm could go wrong, up to about 10^6"},
        {"check", "type", "all"},
        {"", "type", "i32"},
        {"check", "kind", "all"},
        {"count", "kind", "all"},
        {"", "kind", "exclusive"},
        {"check", "op", "all"},
        {"", "op", "sum"},
        {"trace", "threads", "the fewest that the algorithm accepts"},
        {"", "threads", "each algorithm's own choice"},
        {"", "seed", "1"},
        {"", "device", "0"},
        {"", "output", "results"},
        {"", "machine", "made of the GPU's or CPU's name"},
        {"", "min-samples", "30 on a GPU, 5 on the CPU device"},
        {"", "max-samples", "1000"},
        {"count", "budget", "120 for all points together"},
        {"", "budget", "of a point 1 on a GPU, 0.3 on the CPU device"},
        {"check", "limit", "90"},
        {"", "limit", "60, and more for a long budget and a large n"},
        {"", "memory", "half of the host's"},
        {"", "workers", "one per core"},
        {"", "resident", "16"},
        {"check", "schedule", "all at small sizes, ascending at large ones"},
        {"", "schedule", "ascending"},
        {"", "format", "plain"},
        {"", "offset", "0"},
        {"", "input", "-"},
        {"trace", "values", "3,1,4,1,5,9,2,6, repeated"},
    };
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!strcmp(defaults[i].option, name) && (!*defaults[i].verb || !strcmp(defaults[i].verb, verb->name)))
            return defaults[i].text;
    return NULL;
}

void settings_print_options(const struct verb *verb)
{
    for (int i = 0; i < OPTIONS; i++) {
        const struct option *option = &options[i];
        if (!verb_takes(verb, option->name))
            continue;
        char names[64];
        const char *standard = default_of(verb, option->name);
        if (option->letter)
            snprintf(names, sizeof names, "-%c, --%s %s", option->letter, option->name, option->argument);
        else
            snprintf(names, sizeof names, "    --%s%s%s", option->name, option->argument ? " " : "",
                     option->argument ? option->argument : "");
        printf("  %-24s %s", names, option->help);
        if (standard)
            printf("%s[%s]", strlen(option->help) + strlen(standard) > 90 ? "\n                           " : " ",
                   standard);
        printf("\n");
    }
    printf("      --help               this text\n");
}

/* ------------------------------------------------------------------------------------------------ parsing */

static int complain(const char *option, const char *value, const char *why)
{
    if (value)
        fprintf(stderr, "scanbench: %s %.200s: %s\n", option, *value ? value : "\"\"", why);
    else
        fprintf(stderr, "scanbench: %s: %s\n", option, why);
    return EXIT_USAGE;
}

static int complain_unknown(const struct verb *verb, const char *given)
{
    char why[300];
    const char *names[OPTIONS + 1];
    int count = 0;
    const char *bare = given + strspn(given, "-");
    size_t length = strcspn(bare, "=");
    char name[64];
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, bare);

    for (int i = 0; i < OPTIONS; i++) {
        const struct option *option = &options[i];
        bool is_it = !strcmp(option->name, name) || (!name[1] && name[0] && option->letter == name[0]);
        if (verb_takes(verb, option->name)) {
            names[count++] = option->name;
            continue;
        }
        if (!is_it)
            continue;
        const char *separator = " ";
        int used = snprintf(why, sizeof why, "not an option of %s but of", verb->name);
        for (int v = 0; verbs[v]; v++)
            if (verb_takes(verbs[v], option->name)) {
                used += snprintf(why + used, sizeof why - (size_t)used, "%s%s", separator, verbs[v]->name);
                separator = ", ";
            }
        return complain(given, NULL, why);
    }
    names[count++] = "help";
    const char *near = nearest_name(name, names, count);
    if (near)
        snprintf(why, sizeof why, "%s has no such option; did you mean --%s?", verb->name, near);
    else
        snprintf(why, sizeof why, "%s has no such option; `scanbench %s --help` lists them", verb->name, verb->name);
    return complain(given, NULL, why);
}

static const struct option *find_option(const struct verb *verb, const char *name, size_t length)
{
    for (int i = 0; i < OPTIONS; i++)
        if (strlen(options[i].name) == length && !strncmp(options[i].name, name, length) &&
            verb_takes(verb, options[i].name))
            return &options[i];
    return NULL;
}

static const struct option *find_letter(const struct verb *verb, char letter)
{
    for (int i = 0; i < OPTIONS; i++)
        if (options[i].letter && options[i].letter == letter && verb_takes(verb, options[i].name))
            return &options[i];
    return NULL;
}

/* The option and its value at argv[*at]; NULL value for a switch. */
static int parse_option(struct settings *settings, int argc, char **argv, int *at)
{
    const char *given = argv[*at], *value = NULL;
    const struct option *option;
    if (given[1] == '-') {
        size_t length = strcspn(given + 2, "=");
        option = find_option(settings->verb, given + 2, length);
        if (given[2 + length])
            value = given + 2 + length + 1;
    } else {
        option = find_letter(settings->verb, given[1]);
        if (given[2])
            value = given[2] == '=' ? given + 3 : given + 2;
    }
    if (!option)
        return complain_unknown(settings->verb, given);

    char name[64];
    struct refusal refusal = {""};
    snprintf(name, sizeof name, "--%s", option->name);
    if (!option->argument && value)
        return complain(name, value, "it takes no value");
    if (option->argument && !value) {
        bool followed = *at + 1 < argc && strncmp(argv[*at + 1], "--", 2) != 0;
        if (!followed) {
            snprintf(refusal.why, sizeof refusal.why, "a value is missing: %s, %s", option->argument, option->help);
            return complain(name, NULL, refusal.why);
        }
        value = argv[++*at];
    }
    if (!option->set(settings, value, &refusal))
        return complain(name, value, refusal.why);
    return 0;
}

/* Does the algorithm accept a block of so many threads? */
static bool accepts(const struct algorithm *algorithm, int threads)
{
    for (int i = 0; i < 8 && algorithm->threads[i]; i++)
        if (algorithm->threads[i] == threads)
            return true;
    return false;
}

/* What was named must fit; what came with `all` is left out where it does not. */
static int check_threads(const struct settings *settings)
{
    for (int t = 0; t < settings->thread_count; t++) {
        bool anyone = false;
        char value[16], why[300];
        snprintf(value, sizeof value, "%d", settings->threads[t]);
        for (int i = 0; i < settings->algorithm_count; i++) {
            const struct algorithm *algorithm = settings->algorithms[i];
            anyone |= accepts(algorithm, settings->threads[t]);
            if (!settings->algorithms_given || !algorithm->threads[0] || accepts(algorithm, settings->threads[t]))
                continue;
            int used = snprintf(why, sizeof why, "%s accepts", algorithm->name);
            for (int j = 0; j < 8 && algorithm->threads[j]; j++)
                used += snprintf(why + used, sizeof why - (size_t)used, "%s %d", j ? "," : "", algorithm->threads[j]);
            return complain("--threads", value, why);
        }
        if (!anyone)
            return complain("--threads", value,
                            "no algorithm that was chosen accepts it; `scanbench list` tells what they accept");
    }
    return 0;
}

/* What one algorithm of those named cannot do at all is refused; with `all` it is left out of the plan. */
static int check_support(const struct settings *settings)
{
    for (int i = 0; i < settings->algorithm_count && settings->algorithms_given; i++) {
        const struct algorithm *algorithm = settings->algorithms[i];
        char why[300];
        bool copies = algorithm->kinds == COPY;
        if (!copies && !(algorithm->kinds & settings->kinds)) {
            snprintf(why, sizeof why, "%s has none of these kinds", algorithm->name);
            return complain("--kind", NULL, why);
        }
        if (!(algorithm->types & settings->types)) {
            snprintf(why, sizeof why, "%s has none of these types", algorithm->name);
            return complain("--type", NULL, why);
        }
        if (!copies && !(algorithm->ops & settings->ops)) {
            snprintf(why, sizeof why, "%s has none of these operators", algorithm->name);
            return complain("--op", NULL, why);
        }
        if (settings->in_place && !algorithm->in_place) {
            snprintf(why, sizeof why, "%s cannot work in place", algorithm->name);
            return complain("--in-place", NULL, why);
        }
    }
    if (settings->ops == AFFINE && !(settings->types & (I32 | I64)))
        return complain("--op", "affine", "only on the types i32 and i64");
    return 0;
}

int settings_parse(struct settings *settings, const struct verb *verb, int argc, char **argv)
{
    memset(settings, 0, sizeof *settings);
    settings->verb = verb;
    settings->seed = 1;
    settings->argc = argc;
    settings->argv = argv;

    bool takes_folder = strstr(verb->usage, "[RUN]"), only_positional = false;
    for (int at = 0; at < argc; at++) {
        if (!only_positional && !strcmp(argv[at], "--")) {
            only_positional = true;
        } else if (!only_positional && argv[at][0] == '-' && argv[at][1]) {
            int failed = parse_option(settings, argc, argv, &at);
            if (failed)
                return failed;
        } else if (takes_folder && !settings->run_folder) {
            settings->run_folder = argv[at];
        } else {
            fprintf(stderr, "scanbench: \"%.200s\": %s takes %s beside options\n", argv[at], verb->name,
                    takes_folder ? "one folder" : "nothing");
            return EXIT_USAGE;
        }
    }

    bool check = !strcmp(verb->name, "check"), count = !strcmp(verb->name, "count");
    if (!settings->algorithms)
        choose_algorithms(settings, true);
    if (!settings->types)
        settings->types = check ? ALL_TYPES : I32;
    if (!settings->kinds)
        settings->kinds = check || count ? BOTH_KINDS | COPY : EXCLUSIVE;
    if (!settings->ops)
        settings->ops = check ? ALL_OPS : SUM;
    if (!settings->output)
        settings->output = "results";
    if (!settings->launches)
        settings->launches = LAUNCH_STREAM;
    if (!settings->caches)
        settings->caches = CACHE_WARM;
    if (settings->max_samples && settings->min_samples > settings->max_samples) {
        char value[16], why[64];
        snprintf(value, sizeof value, "%d", settings->min_samples);
        snprintf(why, sizeof why, "more than --max-samples %d", settings->max_samples);
        return complain("--min-samples", value, why);
    }
    if (settings->values && settings->input)
        return complain("--values", NULL, "either --values or --input");
    if (settings->values && settings->raw)
        return complain("--raw", NULL, "--values are text: --raw goes with --input");
    int failed = check_threads(settings);
    return failed ? failed : check_support(settings);
}

void settings_defaults(struct settings *settings, const char *device_kind)
{
    bool cuda = !strcmp(device_kind, "cuda");
    bool like_cuda = cuda || settings->device_options.simulate; /* all but the sizes: its kernels are carried out */
    if (!settings->sizes) {
        const char *sweep =
            cuda ? (settings->quick ? "2^10:2^26:x4" : "2^10:2^28") : (settings->quick ? "2^10:2^20:x4" : "2^10:2^20");
        char why[64];
        settings->size_count = sizes_parse(sweep, &settings->sizes, why, sizeof why);
    }
    if (!settings->max_samples)
        settings->max_samples = settings->min_samples > 1000 ? settings->min_samples : 1000;
    if (!settings->min_samples) {
        int standard = like_cuda ? (settings->quick ? 10 : 30) : 5;
        settings->min_samples = standard < settings->max_samples ? standard : settings->max_samples;
    }
    if (!(settings->budget_s > 0)) {
        double standard = !strcmp(settings->verb->name, "count") ? 120 : like_cuda ? 1 : 0.3;
        settings->budget_s = settings->quick ? standard / 4 : standard;
    }
}

const char *launch_mode_name(enum launch_mode launch)
{
    return launch == LAUNCH_GRAPH ? "graph" : "stream";
}

const char *cache_state_name(enum cache_state cache)
{
    return cache == CACHE_COLD ? "cold" : "warm";
}

void settings_free(struct settings *settings)
{
    free(settings->algorithms);
    free(settings->sizes);
    free(settings->threads);
    settings->algorithms = NULL;
    settings->sizes = NULL;
    settings->threads = NULL;
    settings->algorithm_count = settings->size_count = settings->thread_count = 0;
}
