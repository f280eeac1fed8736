/* SPDX-License-Identifier: MIT */
/* Numbers and points in words, as more than one part of bench prints them. */
#include "registry.h"
#include "verbs/bench.h"

#include <inttypes.h>
#include <stdio.h>

void bench_format_n(uint64_t n, char *text, size_t size)
{
    if (n >= 1024 && (n & (n - 1)) == 0)
        snprintf(text, size, "2^%d", log2_ceil(n));
    else
        snprintf(text, size, "%" PRIu64, n);
}

/* Three digits and the unit that keeps them before the point: "1.23 us". */
void bench_format_seconds(double seconds, char *text, size_t size)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    size_t i = 0;
    while (i < 3 && seconds < 0.9995 * units[i].unit)
        i++;
    double value = seconds / units[i].unit;
    snprintf(text, size, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[i].name);
}

void bench_describe(const struct point *point, char *text, size_t size)
{
    char n[32];
    bench_format_n(point->n, n, sizeof n);
    int used = snprintf(text, size, "%s %s %s %s n=%s", point->algorithm->name, kind_name(point->kind),
                        type_name(point->type), op_name(point->op), n);
    if (used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "%s%s", point->launch == LAUNCH_GRAPH ? " graph" : "",
                 point->cache == CACHE_COLD ? " cold" : "");
}
