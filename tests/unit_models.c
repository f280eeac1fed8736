/* SPDX-License-Identifier: MIT */
/*
 * What every algorithm says that it costs, against what the CPU device counts; and every answer against a loop, with
 * the operator that does not commute. Both kinds, every n up to 1100 and some above, every block size.
 */
#include "device/device.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DENSE = 1100,         /* every n up to here */
    MOST = (1 << 20) + 1, /* and the largest */
    BEHIND = 64,          /* elements behind the output that nobody may touch */
};
static const uint64_t above[] = {2047, 2048, 2049, 4095, 4096, 4097, 65536, 100000, MOST};
enum { ABOVE = sizeof above / sizeof *above };

static bool failed_any;
static char *input, *expected, *answer; /* host memory, MOST + BEHIND elements of 8 bytes */
static char *in, *out;                  /* the same on the device */

/* x -> slope x + offset, slopes odd: an even one would forget what came before it. */
static uint64_t random_element(enum type type, uint64_t i)
{
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 32;
    return type == I32 ? (x & UINT32_MAX) | 1 << 16 : x | UINT64_C(1) << 32;
}

static uint64_t compose(enum type type, uint64_t a, uint64_t b)
{
    int half = type == I32 ? 16 : 32;
    uint64_t low = (UINT64_C(1) << half) - 1, slope = (a >> half) * (b >> half) & low;
    return slope << half | (((a & low) * (b >> half) + (b & low)) & low);
}

static void put(char *array, enum type type, uint64_t i, uint64_t value)
{
    if (type == I32)
        ((uint32_t *)array)[i] = (uint32_t)value;
    else
        ((uint64_t *)array)[i] = value;
}

static void make_input(enum type type)
{
    for (uint64_t i = 0; i < MOST; i++)
        put(input, type, i, random_element(type, i));
    device_upload(in, input, MOST * type_size(type));
}

static void make_expected(const struct problem *p)
{
    uint64_t sum = p->op == SUM ? 0 : UINT64_C(1) << (p->type == I32 ? 16 : 32);
    for (uint64_t i = 0; i < p->n; i++) {
        uint64_t x = random_element(p->type, i), before = sum;
        sum = p->op == SUM ? sum + x : compose(p->type, sum, x);
        put(expected, p->type, i, p->kind == COPY ? x : p->kind == INCLUSIVE ? sum : before);
    }
}

/* One run, in place or not; false, and why, where something is wrong. */
static bool run_once(const struct algorithm *a, struct problem *p, bool in_place, char *why, size_t size)
{
    size_t bytes = p->n * type_size(p->type), behind = BEHIND * type_size(p->type);
    bool host = a->runs_on == HOST;
    p->in = host ? input : in;
    p->out = host ? answer : out;
    if (in_place) {
        p->in = p->out;
        if (host)
            memcpy(answer, input, bytes);
        else
            device_upload(out, input, bytes);
    } else if (host) {
        memset(answer, 0xa5, bytes);
    } else {
        device_fill(out, 0xa5, bytes);
    }
    if (host)
        memset(answer + bytes, 0xa5, behind);
    else
        device_fill(out + bytes, 0xa5, behind);

    uint64_t launches = device_launches(), additions = device_additions();
    a->run(p);
    if (device_synchronize()) {
        snprintf(why, size, "%s", device_error_text());
        return false;
    }
    launches = device_launches() - launches;
    additions = device_additions() - additions;

    struct cost cost = a->model(p);
    if (cost.launches != UNKNOWN && cost.launches != launches) {
        snprintf(why, size, "%llu launches, the model says %llu", (unsigned long long)launches,
                 (unsigned long long)cost.launches);
        return false;
    }
    if (!host && cost.additions != UNKNOWN && device_counts_additions(p->type, p->op) && cost.additions != additions) {
        snprintf(why, size, "%llu additions, the model says %llu", (unsigned long long)additions,
                 (unsigned long long)cost.additions);
        return false;
    }
    if (!host)
        device_download(answer, out, bytes + behind);
    memset(expected + bytes, 0xa5, behind);
    if (memcmp(answer, expected, bytes + behind) != 0) {
        uint64_t at = 0;
        while (answer[at] == expected[at])
            at++;
        snprintf(why, size, "element %llu is wrong%s", (unsigned long long)(at / type_size(p->type)),
                 in_place ? ", in place" : "");
        return false;
    }
    return true;
}

static bool run_size(const struct algorithm *a, enum kind kind, enum type type, enum op op, int threads, uint64_t n,
                     char *why, size_t size)
{
    struct problem p = {.n = n, .type = type, .op = op, .kind = kind, .threads = threads};
    char reason[256] = "";
    size_t bytes = a->workspace ? a->workspace(&p) : 0;
    if (strcmp(a->name, "one_thread") == 0 && n > 1 << 20)
        return true; /* is refused */
    if (a->refuse && a->refuse(&p)) {
        snprintf(why, size, "n %llu, %d threads: refused, %s", (unsigned long long)n, threads, a->refuse(&p));
        return false;
    }
    p.workspace = bytes ? device_malloc(bytes) : NULL; /* its own size: a store behind it is seen when it is freed */
    if (a->prepare)
        a->prepare(&p);
    make_expected(&p);
    bool right =
        run_once(a, &p, false, reason, sizeof reason) && (!a->in_place || run_once(a, &p, true, reason, sizeof reason));
    device_free(p.workspace);
    if (right && device_error()) {
        snprintf(reason, sizeof reason, "%s", device_error_text());
        right = false;
    }
    if (!right)
        snprintf(why, size, "n %llu, %s, %d threads: %s", (unsigned long long)n, p.type == I32 ? "i32" : "i64", threads,
                 reason);
    return right;
}

static void report(bool right, const char *name, const char *part, const char *why)
{
    printf("%s unit_models %s %s%s%s\n", right ? "ok" : "not ok", name, part, right ? "" : ": ", right ? "" : why);
    failed_any |= !right;
}

/* Every size by sums of i32, whose additions are counted, and by affine maps, half of them on i64. */
static bool run_sizes(const struct algorithm *a, enum kind kind, int threads, bool own, char *why, size_t size)
{
    static const struct {
        enum type type;
        enum op op;
        int first, step;
    } passes[] = {{I32, SUM, 1, 1}, {I32, AFFINE, 1, 2}, {I64, AFFINE, 2, 2}};
    for (int pass = 0; pass < (kind == COPY ? 1 : 3); pass++) {
        enum op op = kind == COPY ? NONE : passes[pass].op;
        make_input(passes[pass].type);
        for (uint64_t n = (uint64_t)passes[pass].first; n <= DENSE; n += (uint64_t)passes[pass].step)
            if (!run_size(a, kind, passes[pass].type, op, threads, n, why, size))
                return false;
        for (int i = 0; i < ABOVE; i++)
            if ((passes[pass].step == 1 || above[i] % 2 == (uint64_t)passes[pass].first % 2) &&
                (own || above[i] <= 100000) && !run_size(a, kind, passes[pass].type, op, threads, above[i], why, size))
                return false;
    }
    return true;
}

static void test_algorithm(const struct algorithm *a)
{
    static const enum kind kinds[] = {INCLUSIVE, EXCLUSIVE, COPY};
    char why[512] = "";
    if (!a->run) {
        printf("skip unit_models %s: needs an NVIDIA GPU\n", a->name);
        return;
    }
    if (!a->model) {
        printf("skip unit_models %s: has no model\n", a->name);
        return;
    }
    for (int i = 0; i < 3; i++) {
        if (!(a->kinds & kinds[i]))
            continue;
        bool right = run_sizes(a, kinds[i], a->threads[0], true, why, sizeof why);
        for (int t = 1; right && t < 8 && a->threads[t]; t++)
            right = run_sizes(a, kinds[i], a->threads[t], false, why, sizeof why);
        report(right, a->name, kind_name(kinds[i]), why);
    }
}

/* The numbers of the lesson, at its size. */
static void test_lesson(void)
{
    static const struct {
        const char *name;
        uint64_t additions, launches;
    } lesson[] = {
        {"serial", 1023, 0}, {"hillis_steele", 9217, 10}, {"blelloch_lesson", 2046, 21}, {"blelloch", 2046, 21}};
    for (int i = 0; i < 4; i++) {
        const struct algorithm *a = registry_find(lesson[i].name);
        bool right = a != NULL;
        for (enum kind kind = INCLUSIVE; right && kind <= EXCLUSIVE; kind++) {
            struct problem p = {.n = 1024, .type = I32, .op = SUM, .kind = kind, .threads = a->threads[0]};
            struct cost cost = a->model(&p);
            right = cost.additions == lesson[i].additions && cost.launches == lesson[i].launches;
        }
        report(right, lesson[i].name, "at-1024", "not the numbers of the lesson");
    }
}

/* Numbers that were worked out by hand from the drawings of the files. */
static void test_known(void)
{
    static const struct {
        const char *name;
        uint64_t n;
        int threads;
        struct cost cost;
    } known[] = {
        /* A tile: 15 - 1 of each of 32 threads, 129 of the warp, 129 of its total, one of the prefix, one of the seed,
         * one of each thread, 15 again. Four words are cleared for three tiles: their flags and the ticket. */
        {"chained_scan", 480, 32, {2, 1220, 35, 480, 480 + 1 + 2}},
        {"chained_scan", 481, 32, {2, 2 * 1220, 42, 481 + 1, 481 + 2 + 4}},
        {"chained_scan", 1200, 32, {2, 3 * 1220, 43, 1200 + 2, 1200 + 3 + 4}},
        {"chained_scan", 1 << 20, 256, {2, 274 * 8850, 314, (1 << 20) + 273, (1 << 20) + 274 + 276}},
        {"decoupled_lookback", 1 << 20, 256, {2, UNKNOWN, UNKNOWN, UNKNOWN, (1 << 20) + 273 + 274 + 276}},
        /* One block: its tile twice, and no sums before it. */
        {"cooperative", 480, 32, {1, 2 * (448 + 129 + 129 + 32) + 1 + 32 + 480, 35, 2 * 480, 480 + 1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct algorithm *a = registry_find(known[i].name);
        struct problem p = {.n = known[i].n, .type = I32, .op = SUM, .kind = EXCLUSIVE, .threads = known[i].threads};
        struct cost cost = {0}, right = known[i].cost;
        if (a)
            cost = a->model(&p);
        char part[40], why[200];
        snprintf(part, sizeof part, "known-%llu", (unsigned long long)p.n);
        snprintf(why, sizeof why, "%lld launches, %lld additions, %lld steps, %lld words read, %lld written",
                 (long long)cost.launches, (long long)cost.additions, (long long)cost.steps, (long long)cost.words_read,
                 (long long)cost.words_written);
        report(memcmp(&cost, &right, sizeof cost) == 0, known[i].name, part, why);
    }
}

/* The grids of these do not grow with n. */
static bool has_fixed_grid(const struct algorithm *a)
{
    return strcmp(a->name, "cooperative") == 0 || strcmp(a->name, "reduce_then_scan") == 0;
}

/* A grid has at most 2^31 - 1 blocks; more must be refused, not cut. */
static void test_refusal(const struct algorithm *a)
{
    if (!a->threads[0])
        return;
    struct problem p = {.type = I32, .op = SUM, .kind = EXCLUSIVE, .threads = a->threads[0]};
    uint64_t tile = (uint64_t)a->threads[0] * (uint64_t)a->items;
    p.n = tile << 31;
    bool right = has_fixed_grid(a) ? !a->refuse || !a->refuse(&p) : a->refuse && a->refuse(&p) != NULL;
    p.n = tile << 20;
    right = right && (!a->refuse || !a->refuse(&p));
    report(right, a->name, "refusal", "2^31 tiles are to be refused unless the grid is fixed, 2^20 are not");
}

int main(void)
{
    const struct device_options options = {.memory_bytes = UINT64_C(256) << 20};
    char why[256];
    if (device_open(0, &options, why, sizeof why)) {
        printf("not ok unit_models device: %s\n", why);
        return 1;
    }
    size_t bytes = (MOST + BEHIND) * 8;
    input = malloc(bytes);
    expected = malloc(bytes);
    answer = malloc(bytes);
    in = device_malloc(bytes);
    out = device_malloc(bytes);
    if (!input || !expected || !answer || !in || !out) {
        printf("not ok unit_models memory: too little of it\n");
        return 1;
    }
    device_count_additions(true);
    for (const struct algorithm *const *a = registry(); *a; a++) {
        test_algorithm(*a);
        test_refusal(*a);
    }
    test_lesson();
    test_known();
    device_close();
    return failed_any;
}
