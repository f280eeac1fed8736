// SPDX-License-Identifier: MIT
/*
 * The gate: a kernel of one thread that spins until the host says "open", so that what is queued behind it meets a
 * device that never waits for the host.
 *
 *     host     close . queue . queue . queue . open                    opened = 7
 *     stream           [ gate 7 ............... ][ run ][ run ][ run ]
 *
 * Two words in pinned memory of the host, each written by one side alone. Gates are numbered: the host writes the
 * number up to which gates are open, the kernel the number of a gate that opened by itself. Nothing is ever set back,
 * so no gate, however late, meets a word that was meant for another.
 *
 * Who decides when the host opens a gate at the very moment its time runs out? An atomic exchange would not do: those
 * of a GPU on memory of the host are not atomic for the host unless the bus knows them (hostNativeAtomicSupported).
 * None is needed. A gate that gives up writes so, waits until the host can see it, and only then lets pass; a host that
 * has not seen it when it opens has thus opened before anything passed.
 */
#include "cuda.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

struct gate_words {
    unsigned opened;  /* the host: gates up to this one are open */
    unsigned gave_up; /* the GPU: the last gate that opened by itself */
};

static struct gate_words *words;
static unsigned newest; /* number of the gate closed last */
static bool usable;

/* Should %globaltimer stand still, cycles end the gate: 2 s at 2 GHz. */
constexpr unsigned long long DEADLINE_NS = static_cast<unsigned long long>(DEVICE_GATE_DEADLINE_S * 1e9);
constexpr unsigned long long DEADLINE_CYCLES = 4000000000;

static __global__ void gate(volatile struct gate_words *words, unsigned number)
{
    unsigned long long reached_ns = global_timer_ns(), reached_cycles = sm_cycles();
    while (int(words->opened - number) < 0)
        if (global_timer_ns() - reached_ns >= DEADLINE_NS || sm_cycles() - reached_cycles >= DEADLINE_CYCLES) {
            words->gave_up = number;
            __threadfence_system();
            break;
        }
}

/* Tools that run kernels one by one, or wait for each, announce themselves to the program they start: Nsight Compute by
 * NV_NSIGHT_INJECTION_* and NV_COMPUTE_PROFILER_PERFWORKS_DIR, Nsight Systems by NSYS_PROFILING_SESSION_ID,
 * compute-sanitizer by NV_SANITIZER_INJECTION_*, nvprof by NVPROF_ID, and whatever the driver is to load into a program
 * by CUDA_INJECTION64_PATH. CUDA_LAUNCH_BLOCKING=1 makes every launch wait for its end. */
static bool a_tool_watches(void)
{
    static const char *const signs[] = {"CUDA_INJECTION64_PATH=",     "NV_NSIGHT_INJECTION_",
                                        "NV_SANITIZER_INJECTION_",    "NV_COMPUTE_PROFILER_PERFWORKS_DIR=",
                                        "NSYS_PROFILING_SESSION_ID=", "NVPROF_ID="};
    for (char **variable = environ; variable && *variable; variable++)
        for (const char *sign : signs)
            if (!strncmp(*variable, sign, strlen(sign)))
                return true;
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    return blocking && *blocking && strcmp(blocking, "0");
}

/* Opens every gate there is, whatever has happened to the device. True: none but those that gave up was passed before.
 */
static bool open_all(void)
{
    __atomic_store_n(&words->opened, newest, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&words->gave_up, __ATOMIC_SEQ_CST) != newest;
}

static void close_next(void)
{
    newest++;
    gate<<<1, 1, 0, gpu.stream>>>(words, newest);
    CHECK(cudaGetLastError());
}

/* Loads the kernel behind an open gate; then tries one that is closed. Where something makes a launch wait for its end,
 * this one waits for the deadline, and it is the only one that does. */
void gate_start(void)
{
    void *memory = nullptr;
    usable = false;
    if (gpu.error || a_tool_watches())
        return;
    if (cudaHostAlloc(&memory, sizeof *words, cudaHostAllocMapped) != cudaSuccess) {
        cudaGetLastError();
        return;
    }
    words = static_cast<struct gate_words *>(memory);
    words->gave_up = newest;
    words->opened = newest + 1;
    close_next();
    if (device_synchronize())
        return;
    close_next();
    bool held = open_all();
    usable = !device_synchronize() && held;
}

/* The memory goes with the context; nothing may still spin on it. */
void gate_stop(void)
{
    if (words)
        open_all();
    words = nullptr;
    usable = false;
}

bool device_has_gate(void)
{
    return usable;
}

bool device_gate_close(void)
{
    if (!usable || gpu.error)
        return false;
    close_next();
    return !gpu.error;
}

bool device_gate_open(void)
{
    return usable && open_all() && !gpu.error;
}
