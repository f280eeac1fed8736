/* SPDX-License-Identifier: MIT */
/* From settings to points, and what a point asks for. */
#include "job.h"
#include "shuffle.h"

#include <stdlib.h>
#include <string.h>

struct plan {
    struct point *points;
    int count, room;
};

static void add(struct plan *plan, const struct settings *settings, struct point point)
{
    if (plan->count == plan->room) {
        plan->room = plan->room ? 2 * plan->room : 256;
        plan->points = realloc(plan->points, (size_t)plan->room * sizeof *plan->points);
        if (!plan->points)
            abort();
    }
    point.schedule = settings->device_options.schedule;
    point.schedule_seed = settings->device_options.seed;
    plan->points[plan->count++] = point;
}

static bool wanted(const struct settings *settings, int threads)
{
    for (int i = 0; i < settings->thread_count; i++)
        if (settings->threads[i] == threads)
            return true;
    return false;
}

/* The same point launched in each way, from each state of the cache, that was asked for. The host knows one of each. */
static void add_modes(struct plan *plan, const struct settings *settings, struct point point)
{
    unsigned launches = settings->launches, caches = settings->caches;
    if (point.algorithm->runs_on == HOST) {
        launches = LAUNCH_STREAM;
        caches = CACHE_WARM;
    }
    if (point.algorithm->synchronises && launches & LAUNCH_STREAM)
        launches = LAUNCH_STREAM;
    for (unsigned launch = LAUNCH_STREAM; launch <= LAUNCH_GRAPH; launch *= 2)
        for (unsigned cache = CACHE_WARM; cache <= CACHE_COLD; cache *= 2)
            if (launches & launch && caches & cache) {
                point.launch = (enum launch_mode)launch;
                point.cache = (enum cache_state)cache;
                add(plan, settings, point);
            }
}

/* The same point with each block size that was asked for. */
static void add_threads(struct plan *plan, const struct settings *settings, struct point point)
{
    const int *accepted = point.algorithm->threads;
    if (point.algorithm->runs_on == HOST || !accepted[0]) {
        add_modes(plan, settings, point);
        return;
    }
    for (int i = 0; i < 8 && accepted[i]; i++) {
        bool chosen = settings->thread_count ? wanted(settings, accepted[i]) : i == 0 || settings->all_threads;
        point.threads = accepted[i];
        if (chosen)
            add_modes(plan, settings, point);
    }
}

int plan_make(const struct settings *settings, struct point **points)
{
    static const enum type types[] = {I32, I64, F32, F64};
    static const enum op ops[] = {SUM, MAX, AFFINE};
    static const enum kind kinds[] = {INCLUSIVE, EXCLUSIVE, COPY};
    struct plan plan = {0};

    for (int t = 0; t < 4; t++) {
        bool copied = false; /* the kind copy has no operator: once a type, with the first one */
        for (int o = 0; o < 3; o++) {
            if (!(settings->types & types[t]) || !(settings->ops & ops[o]))
                continue;
            for (int s = 0; s < settings->size_count; s++)
                for (int k = 0; k < 3; k++)
                    for (int a = 0; a < settings->algorithm_count; a++) {
                        const struct algorithm *algorithm = settings->algorithms[a];
                        bool copy = kinds[k] == COPY;
                        if (!(algorithm->kinds & kinds[k]) || !(algorithm->types & types[t]) ||
                            (settings->in_place && !algorithm->in_place))
                            continue;
                        if (copy ? copied : !(settings->kinds & kinds[k]) || !(algorithm->ops & ops[o]))
                            continue;
                        if (ops[o] == AFFINE && !copy && (types[t] & (F32 | F64)))
                            continue;
                        struct point point = {.algorithm = algorithm,
                                              .kind = kinds[k],
                                              .type = types[t],
                                              .op = copy ? NONE : ops[o],
                                              .n = settings->sizes[s]};
                        add_threads(&plan, settings, point);
                    }
            copied = true;
        }
    }
    *points = plan.points;
    return plan.count;
}

/* Do two neighbours in the plan compete? A copy does so with the scans of its type and n. */
static bool compete(const struct point *a, const struct point *b)
{
    return a->type == b->type && a->n == b->n && (a->op == b->op || a->op == NONE || b->op == NONE);
}

int plan_order(const struct point *points, int count, uint64_t seed, int *order, int *first)
{
    int groups = 0;
    int *begins = malloc(((size_t)count + 1) * sizeof *begins), *turn = malloc(((size_t)count + 1) * sizeof *turn);
    if (!begins || !turn)
        abort();
    for (int i = 0; i < count; i++)
        if (i == 0 || !compete(&points[i - 1], &points[i]))
            begins[groups++] = i;
    begins[groups] = count;
    for (int i = 0; i < groups; i++)
        turn[i] = i;
    shuffle(turn, groups, &seed);
    int at = 0;
    for (int g = 0; g < groups; g++) {
        first[g] = at;
        for (int i = begins[turn[g]]; i < begins[turn[g] + 1]; i++)
            order[at++] = i;
    }
    first[groups] = count;
    free(begins);
    free(turn);
    return groups;
}

const char *point_unavailable(const struct point *point)
{
    if (point->algorithm->run)
        return NULL;
    if (point->algorithm->missing)
        return point->algorithm->missing;
    return point->algorithm->runs_on == NVIDIA ? "needs an NVIDIA GPU" : "has no .run in its descriptor";
}

void point_problem(const struct point *point, struct problem *problem)
{
    memset(problem, 0, sizeof *problem);
    problem->n = point->n;
    problem->type = point->type;
    problem->op = point->op;
    problem->kind = point->kind;
    problem->threads = point->threads;
}

uint64_t point_memory_bytes(const struct point *point)
{
    struct problem problem;
    point_problem(point, &problem);
    uint64_t data = 2 * point->n * type_size(point->type);
    if (!point->n || !point->algorithm->workspace)
        return data;
    return data + point->algorithm->workspace(&problem);
}

struct cost point_model(const struct point *point)
{
    struct cost cost = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    struct problem problem;
    point_problem(point, &problem);
    if (!point->n)
        memset(&cost, 0, sizeof cost);
    else if (point->algorithm->model)
        cost = point->algorithm->model(&problem);
    return cost; /* cppcheck-suppress returnDanglingLifetime ; a cost holds no pointer */
}
