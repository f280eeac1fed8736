/* SPDX-License-Identifier: MIT */
/* Graphs of the CPU device: what is launched while one is captured is carried out when it is replayed, with the
 * arguments it was captured with. And its caches can be emptied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/gpu.cuh"
extern "C" {
#include "registry.h"
}

static int failures;

static void result(const char *name, bool good, const char *why)
{
    if (!good)
        failures++;
    printf(good ? "ok graphs: %s\n" : "not ok graphs: %s: %s\n", name, why);
    fflush(stdout);
}

static char why[400];

static struct device_graph *captured(const struct algorithm *algorithm, const struct problem *problem)
{
    why[0] = 0;
    return device_graph_capture(algorithm, problem, why, sizeof why);
}

/* ---------------------------------------------------------------------------------------------- every algorithm */

constexpr uint64_t N = 100001;

static void load(const struct problem *p, int32_t seed)
{
    static int32_t values[N];
    for (uint64_t i = 0; i < N; i++)
        values[i] = int32_t(uint32_t(i + 1) * 2654435761u * uint32_t(seed));
    device_upload(const_cast<void *>(p->in), values, sizeof values);
    device_fill(p->out, 0xee, sizeof values);
}

static bool answer_is_right(const struct problem *p)
{
    static int32_t in[N], out[N];
    device_download(in, p->in, sizeof in);
    device_download(out, p->out, sizeof out);
    uint32_t sum = 0;
    for (uint64_t i = 0; i < N; i++) {
        const uint32_t x = uint32_t(in[i]);
        const uint32_t expected = p->kind == COPY ? x : p->kind == EXCLUSIVE ? sum : sum + x;
        sum += x;
        if (uint32_t(out[i]) != expected)
            return false;
    }
    return true;
}

static void test_algorithm(const struct algorithm *a)
{
    struct problem p = {.n = N, .type = I32, .op = SUM, .kind = EXCLUSIVE, .threads = a->threads[0]};
    if (a->kinds == COPY) {
        p.kind = COPY;
        p.op = NONE;
    }
    const size_t bytes = a->workspace ? a->workspace(&p) : 0;
    p.in = device_malloc(N * sizeof(int32_t));
    p.out = device_malloc(N * sizeof(int32_t));
    p.workspace = device_malloc(bytes);
    if (a->prepare)
        a->prepare(&p);
    uint64_t launches = device_launches();
    load(&p, 1);
    const uint64_t alone = device_launches_captured(a, &p);
    struct device_graph *graph = captured(a, &p);
    bool good = graph && device_launches() == launches && !answer_is_right(&p); /* nothing was carried out */
    uint64_t nodes = 0;
    for (int seed = 1; graph && seed < 4; seed++) {
        nodes = device_graph_launches(graph);
        load(&p, seed);
        launches = device_launches();
        device_graph_replay(graph);
        good = good && answer_is_right(&p) && device_launches() == launches + nodes && alone == nodes;
    }
    if (a->model && graph)
        good = good && a->model(&p).launches == nodes;
    device_graph_destroy(graph);
    char name[100];
    snprintf(name, sizeof name, "%s, %llu launches, replayed on three inputs", a->name,
             static_cast<unsigned long long>(nodes));
    result(name, good && !device_error(), device_error() ? device_error_text() : why[0] ? why : "the answer is wrong");
    device_free(const_cast<void *>(p.in));
    device_free(p.out);
    device_free(p.workspace);
}

/* ---------------------------------------------------------------------------------------------- state on the host */

/* Blocks whose status is of this epoch have been done: a scheme that spares clearing the status, as long as every run
 * has an epoch of its own. */
static __global__ void with_epoch(int *status, int *out, int epoch)
{
    if (status[0] == epoch)
        return;
    status[0] = epoch;
    out[0] = 1;
}

static int epoch;

static void run_with_epoch(const struct problem *p)
{
    epoch++;
    launch(with_epoch, 1, 1, static_cast<int *>(p->workspace), static_cast<int *>(p->out), epoch);
}

static const struct algorithm epochs = {.name = "epochs", .runs_on = DEVICE, .run = run_with_epoch};

static void test_state_on_the_host()
{
    int *memory = static_cast<int *>(device_malloc(512));
    const struct problem p = {.n = 1, .out = memory, .workspace = memory + 64};
    auto works = [=](auto run) {
        memory[0] = 0;
        run();
        return memory[0] == 1;
    };
    const bool direct = works([&] { run_with_epoch(&p); }) && works([&] { run_with_epoch(&p); });
    struct device_graph *graph = captured(&epochs, &p);
    const bool first = works([=] { device_graph_replay(graph); }), second = works([=] { device_graph_replay(graph); });
    result("an algorithm that keeps state on the host goes wrong when it is replayed", direct && first && !second,
           !direct  ? "it is wrong anyway"
           : !first ? "the first replay is wrong, too"
                    : "it does not");
    device_graph_destroy(graph);
    device_free(memory);
}

/* ---------------------------------------------------------------------------------------------- arguments */

struct parcel {
    double d;
    char text[40];
    int i;
};

static __global__ void unpack(struct parcel parcel, char *to, bool flag, float f, int64_t last)
{
    parcel.d += double(f) + double(last) + flag;
    *reinterpret_cast<struct parcel *>(to) = parcel;
}

static void run_unpack(const struct problem *p)
{
    struct parcel parcel = {1.5, "many bytes, by value", 7};
    launch(unpack, 1, 1, parcel, static_cast<char *>(p->out), true, 0.25f, int64_t(1) << 40);
    memset(static_cast<void *>(&parcel), 0xff, sizeof parcel);
    launch_memcpy(static_cast<char *>(p->out) + 256, p->out, sizeof parcel);
    launch_memset(p->out, 0x11, 4);
}

static const struct algorithm unpacks = {.name = "unpacks", .runs_on = DEVICE, .run = run_unpack};

static __global__ void one_per_block(int *out)
{
    atomicAdd(out, 1);
}

static void run_cooperative(const struct problem *p)
{
    launch_cooperative(one_per_block, 3, dim3(4, 2), static_cast<int *>(p->out));
}

static const struct algorithm cooperates = {.name = "cooperates", .runs_on = DEVICE, .run = run_cooperative};

static void test_arguments()
{
    char *out = static_cast<char *>(device_malloc(512));
    const struct problem p = {.n = 1, .out = out};
    struct device_graph *graph = captured(&unpacks, &p);
    memset(out, 0, 512);
    device_graph_replay(graph);
    struct parcel got;
    memcpy(&got, out + 256, sizeof got);
    result("arguments of every size are kept, copies and fills too",
           graph && got.d == 1.5 + 0.25 + double(int64_t(1) << 40) + 1 && got.i == 7 &&
               !strcmp(got.text, "many bytes, by value") && out[0] == 0x11 && out[3] == 0x11 && !device_error(),
           device_error_text());
    device_graph_destroy(graph);
    graph = captured(&cooperates, &p);
    memset(out, 0, 512);
    device_graph_replay(graph);
    device_graph_replay(graph);
    result("cooperative launches and blocks of two dimensions", graph && *reinterpret_cast<int *>(out) == 2 * 3 * 8,
           device_error_text());
    device_graph_destroy(graph);
    device_free(out);
}

/* ---------------------------------------------------------------------------------------------- refusals */

static int *anywhere; /* on the device */
static int on_host;

static void fine(const struct problem *)
{
    launch(one_per_block, 1, 1, anywhere);
}

template <void (*forbidden)()> static void run_forbidden(const struct problem *p)
{
    fine(p);
    forbidden();
    fine(p);
}

static void synchronises()
{
    device_synchronize();
}
static void allocates()
{
    device_free(device_malloc(4));
}
static void frees()
{
    device_free(anywhere);
}
static void uploads()
{
    device_upload(anywhere, &on_host, sizeof on_host);
}
static void downloads()
{
    device_download(&on_host, anywhere, sizeof on_host);
}
static void fills()
{
    device_fill(anywhere, 0, 4);
}
static void launches_too_many_threads()
{
    launch(one_per_block, 1, 2000, anywhere);
}

static void refused(const char *name, const struct algorithm *algorithm, const char *says)
{
    const struct problem p = {.n = 1};
    *anywhere = 3;
    const uint64_t before = device_launches();
    struct device_graph *graph = captured(algorithm, &p);
    bool good = !graph && strstr(why, says) && !strchr(why, '\n') && !device_error() && *anywhere == 3 &&
                device_launches() == before && device_launches_captured(algorithm, &p) == UNKNOWN;
    fine(&p);
    good = good && *anywhere == 4 && device_launches() == before + 1 && !device_synchronize();
    char line[200];
    snprintf(line, sizeof line, "%s: it is refused, and the device goes on", name);
    result(line, good, why);
    device_graph_destroy(graph);
}

static void test_refusals()
{
    anywhere = static_cast<int *>(device_malloc(256));
    struct algorithm a = {.name = "a", .runs_on = DEVICE};
    refused("an algorithm that is not in this build", &a, "not in this build");
    a.run = fine;
    a.runs_on = HOST;
    refused("one of the host", &a, "on the host");
    a.runs_on = DEVICE;
    a.synchronises = true;
    refused("one that says it synchronises", &a, "waits for the device");
    a.synchronises = false;
    a.run = run_forbidden<synchronises>;
    refused("one that does not say it", &a, "device_synchronize");
    a.run = run_forbidden<allocates>;
    refused("one that allocates", &a, "device_malloc");
    a.run = run_forbidden<frees>;
    refused("one that frees", &a, "device_free");
    a.run = run_forbidden<uploads>;
    refused("one that uploads", &a, "device_upload");
    a.run = run_forbidden<downloads>;
    refused("one that downloads", &a, "device_download");
    a.run = run_forbidden<fills>;
    refused("one that fills", &a, "device_fill");
    a.run = run_forbidden<launches_too_many_threads>;
    refused("one that launches what cannot be launched", &a, "2000");
    device_free(anywhere);
}

static void test_after_an_error()
{
    int *out = static_cast<int *>(device_malloc(256));
    const struct problem p = {.n = 1, .out = out};
    struct device_graph *graph = captured(&cooperates, &p);
    launch(one_per_block, 1, 2000, out);
    *out = 0;
    device_graph_replay(graph);
    result("after an error nothing is replayed", device_error() && *out == 0, "it is");
    struct device_graph *other = captured(&cooperates, &p);
    result("and nothing is captured", !other && strstr(why, "2000"), why);
    device_graph_destroy(graph);
    device_graph_destroy(other);
}

/* ---------------------------------------------------------------------------------------------- caches */

static int smaller_first(const void *a, const void *b)
{
    const double x = *static_cast<const double *>(a), y = *static_cast<const double *>(b);
    return (x > y) - (x < y);
}

static void test_cold()
{
    constexpr size_t BYTES = 256 << 10;
    constexpr int TRIES = 21;
    const uint64_t memory = device_memory_free();
    if (!device_cold_prepare(why, sizeof why)) {
        printf("skip graphs: cold caches: %s\n", why);
        return;
    }
    result("cold caches cost the device no memory",
           device_cold_prepare(why, sizeof why) && device_memory_free() == memory, "they do");
    volatile char *data = static_cast<char *>(device_malloc(BYTES));
    double warm[TRIES], cold[TRIES];
    auto reading_s = [=] {
        const double start = device_clock_s();
        for (size_t i = 0; i < BYTES; i += 64)
            (void)data[i * 37 % BYTES]; /* every line once, in no order that is easy to guess */
        return device_clock_s() - start;
    };
    for (int i = 0; i < TRIES; i++) {
        device_make_cold();
        cold[i] = reading_s();
        warm[i] = reading_s();
    }
    qsort(warm, TRIES, sizeof *warm, smaller_first);
    qsort(cold, TRIES, sizeof *cold, smaller_first);
    char name[100];
    snprintf(name, sizeof name, "256 KiB are read in %.0f us from cold caches, in %.0f us from warm ones",
             cold[TRIES / 2] * 1e6, warm[TRIES / 2] * 1e6);
    result(name, cold[TRIES / 2] > warm[TRIES / 2], "they are not cold");
    device_free(const_cast<char *>(data));
}

static void test_empty_kernel()
{
    const uint64_t before = device_launches();
    device_launch_empty();
    result("the empty kernel is not counted", device_launches() == before && !device_error(), device_error_text());
    device_profile(true);
    device_profile(false);
    void *pinned = device_pinned_malloc(1000);
    result("there is pinned memory, and no gate", pinned && !device_has_gate() && !device_gate_close(), "there is not");
    device_pinned_free(pinned);
}

static void open(struct device_options options)
{
    options.memory_bytes = 64 << 20;
    device_close();
    if (device_open(0, &options, why, sizeof why)) {
        printf("not ok graphs: open: %s\n", why);
        exit(1);
    }
}

int main(void)
{
    for (struct device_options options :
         {device_options{.workers = 2},
          device_options{.workers = 1, .resident = 3, .schedule = SCHEDULE_SHUFFLED, .seed = 5}}) {
        open(options);
        for (const struct algorithm *const *a = registry(); *a; a++)
            if ((*a)->run && (*a)->runs_on == DEVICE && !(*a)->synchronises)
                test_algorithm(*a);
        test_state_on_the_host();
        test_arguments();
    }
    open({.workers = 1});
    test_refusals();
    test_cold();
    test_empty_kernel();
    test_after_an_error();
    device_close();
    return failures != 0;
}
