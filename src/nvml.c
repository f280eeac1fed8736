/* SPDX-License-Identifier: MIT */
/*
 * NVML without its header, which the CUDA toolkit need not have: each function is looked up by name where it is called.
 * All take a handle first and return 0 for success; numbers of clocks, sensors and reasons are those of NVIDIA's
 * manual.
 */
#include "nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double ANSWER_LIMIT_S = 2; /* behind a GPU that fell off its bus the driver waits for ever */

enum { TEMPERATURE_OF_GPU = 0 };
enum { CLOCK_SM = 1, CLOCK_MEM = 2 };
enum { CLOCK_APPLICATION_TARGET = 1, CLOCK_APPLICATION_DEFAULT = 2 };
enum {
    REASON_IDLE = 0x1,
    REASON_APPLICATION_CLOCKS = 0x2,
    REASON_POWER_CAP = 0x4,
    REASON_HARDWARE = 0x8, /* set beside the two of hardware below, too */
    REASON_SYNC_BOOST = 0x10,
    REASON_THERMAL = 0x20,
    REASON_HARDWARE_THERMAL = 0x40,
    REASON_POWER_BRAKE = 0x80,
};

typedef void *handle;

/* Of version 2. Some drivers write longer ones through version 3 of the function, which is therefore not asked. */
struct process {
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance, compute_instance;
};
enum { MOST_PROCESSES = 256 };

/* POSIX lets a function travel as an object pointer; ISO C does not know of it. */
typedef void (*function)(void);
static function find(void *library, const char *name)
{
    union {
        void *object;
        function function;
    } symbol = {.object = dlsym(library, name)};
    return symbol.function;
}

/* What a function tells in one number; -1: it is missing, or does not tell. */
static long one_number(void *library, const char *name, handle device)
{
    int (*ask)(handle, unsigned *) = (int (*)(handle, unsigned *))find(library, name);
    unsigned value = 0;
    return ask && !ask(device, &value) ? (long)value : -1;
}

static long number_of(void *library, const char *name, handle device, int which)
{
    int (*ask)(handle, int, unsigned *) = (int (*)(handle, int, unsigned *))find(library, name);
    unsigned value = 0;
    return ask && !ask(device, which, &value) ? (long)value : -1;
}

static long clock_of(void *library, handle device, int which, int setting)
{
    int (*ask)(handle, int, int, unsigned *) =
        (int (*)(handle, int, int, unsigned *))find(library, "nvmlDeviceGetClock");
    unsigned value = 0;
    return ask && !ask(device, which, setting, &value) ? (long)value : -1;
}

/* The parent of a process; 0 where there is none to be seen. */
static long parent_of(long pid)
{
    char path[40], line[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = 0;
    long parent = 0;
    const char *behind_name = strrchr(line, ')'); /* the name may hold anything */
    return behind_name && sscanf(behind_name, ") %*c %ld", &parent) == 1 ? parent : 0;
}

/* `caller` or a descendant of it. */
static bool is_ours(long pid, long caller)
{
    for (int generations = 0; pid > 0 && generations < 64; generations++, pid = parent_of(pid))
        if (pid == caller)
            return true;
    return false;
}

static bool is_seen(long pid)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%ld", pid);
    return !access(path, F_OK);
}

static int other_processes(void *library, handle device, long caller)
{
    static struct process list[MOST_PROCESSES];
    int (*ask)(handle, unsigned *, struct process *) =
        (int (*)(handle, unsigned *, struct process *))find(library, "nvmlDeviceGetComputeRunningProcesses_v2");
    unsigned count = MOST_PROCESSES;
    int others = 0, ours = 0, unseen = 0;
    if (!ask || ask(device, &count, list) || count > MOST_PROCESSES)
        return -1;
    for (unsigned i = 0; i < count; i++) {
        bool mine = is_ours((long)list[i].pid, caller);
        ours += mine;
        others += !mine;
        unseen += !mine && !is_seen((long)list[i].pid);
    }
    return !ours && unseen ? others - 1 : others;
}

/* -1: not told. Its name before drivers 535 comes second. */
static long long reasons_of(void *library, handle device)
{
    int (*ask)(handle, unsigned long long *) =
        (int (*)(handle, unsigned long long *))find(library, "nvmlDeviceGetCurrentClocksEventReasons");
    if (!ask)
        ask = (int (*)(handle, unsigned long long *))find(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
    unsigned long long reasons = 0;
    return ask && !ask(device, &reasons) ? (long long)reasons : -1;
}

static void name_reasons(long long reasons, char *text, size_t size)
{
    static const struct {
        long long any;
        const char *name;
    } names[] = {
        {REASON_POWER_CAP, "power"},         {REASON_THERMAL | REASON_HARDWARE_THERMAL, "thermal"},
        {REASON_POWER_BRAKE, "power-brake"}, {REASON_HARDWARE, "hardware"},
        {REASON_SYNC_BOOST, "sync-boost"},
    };
    text[0] = 0;
    if (reasons < 0)
        return;
    if (reasons & (REASON_HARDWARE_THERMAL | REASON_POWER_BRAKE))
        reasons &= ~(long long)REASON_HARDWARE;
    for (size_t i = 0, used = 0; i < sizeof names / sizeof *names; i++)
        if ((reasons & names[i].any) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "+" : "", names[i].name);
}

static int clocks_locked(void *library, handle device, long long reasons, int sm_clock_mhz)
{
    long target = clock_of(library, device, CLOCK_SM, CLOCK_APPLICATION_TARGET);
    long usual = clock_of(library, device, CLOCK_SM, CLOCK_APPLICATION_DEFAULT);
    if ((reasons >= 0 && (reasons & REASON_APPLICATION_CLOCKS)) || (target > 0 && usual > 0 && target != usual))
        return 1;
    long highest = number_of(library, "nvmlDeviceGetMaxClockInfo", device, CLOCK_SM);
    bool idle = reasons >= 0 && (reasons & REASON_IDLE);
    return idle && sm_clock_mhz > 0 && highest > 0 && 2L * sm_clock_mhz <= highest ? 0 : -1;
}

static int positive(long value)
{
    return value > 0 ? (int)value : 0;
}

/* `device` is what has processes, `board` what has a temperature; NULL where it is not known. */
static void ask_all(void *library, handle device, handle board, long caller, struct gpu_state *state)
{
    state->other_processes = other_processes(library, device, caller);
    if (!board)
        return;
    state->temperature_c = (int)number_of(library, "nvmlDeviceGetTemperature", board, TEMPERATURE_OF_GPU);
    long milliwatts = one_number(library, "nvmlDeviceGetEnforcedPowerLimit", board);
    state->power_limit_w = milliwatts > 0 ? (double)milliwatts / 1000 : NAN;
    state->sm_clock_mhz = positive(number_of(library, "nvmlDeviceGetClockInfo", board, CLOCK_SM));
    state->mem_clock_mhz = positive(number_of(library, "nvmlDeviceGetClockInfo", board, CLOCK_MEM));
    long long reasons = reasons_of(library, board);
    name_reasons(reasons, state->throttled, sizeof state->throttled);
    state->clocks_locked = clocks_locked(library, board, reasons, state->sm_clock_mhz);
}

static bool ask_about(void *library, const char *uuid, long caller, struct gpu_state *state)
{
    int (*by_uuid)(const char *, handle *) =
        (int (*)(const char *, handle *))find(library, "nvmlDeviceGetHandleByUUID");
    int (*parent)(handle, handle *) =
        (int (*)(handle, handle *))find(library, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
    handle device = NULL, board = NULL;
    if (!by_uuid || by_uuid(uuid, &device))
        return false;
    if (strncmp(uuid, "MIG-", 4))
        board = device;
    else if (!parent || parent(device, &board))
        board = NULL;
    ask_all(library, device, board, caller, state);
    return true;
}

static void forget(struct gpu_state *state)
{
    *state = (struct gpu_state){.temperature_c = -1, .power_limit_w = NAN, .other_processes = -1, .clocks_locked = -1};
}

static bool ask(const char *uuid, long caller, struct gpu_state *state)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) /* where WSL has it, whether the linker knows or not */
        library = dlopen("/usr/lib/wsl/lib/libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    int (*start)(void) = (int (*)(void))find(library, "nvmlInit_v2");
    int (*stop)(void) = (int (*)(void))find(library, "nvmlShutdown");
    bool known = false;
    if (start && !start()) {
        known = ask_about(library, uuid, caller, state);
        if (stop)
            stop();
    }
    dlclose(library);
    return known;
}

struct answer {
    bool known;
    struct gpu_state state;
};
_Static_assert(sizeof(struct answer) <= PIPE_BUF, "an answer arrives whole or not at all");

/* The child: asks, tells, ends. It may hang for ever, and must then hold nothing that others wait for. */
static void answer_for(const char *uuid, long caller, int pipe)
{
    struct answer answer;
    int null = open("/dev/null", O_RDWR);
    memset(&answer, 0, sizeof answer);
    forget(&answer.state);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if ((long)getppid() != caller)
        _exit(1);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    answer.known = ask(uuid, caller, &answer.state);
    _exit(write(pipe, &answer, sizeof answer) != (ssize_t)sizeof answer);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* An answer before the deadline, or not. */
static bool hear(int pipe, struct answer *answer)
{
    double deadline = now_s() + ANSWER_LIMIT_S, left;
    while ((left = deadline - now_s()) > 0) {
        struct pollfd poll_pipe = {.fd = pipe, .events = POLLIN};
        int ready = poll(&poll_pipe, 1, (int)(1000 * left) + 1);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready > 0 && read(pipe, answer, sizeof *answer) == (ssize_t)sizeof *answer;
    }
    return false;
}

bool nvml_read(const char *uuid, struct gpu_state *state)
{
    static pid_t stuck; /* a child that sits in the driver, where no signal reaches it; 0: none */
    struct answer answer;
    int ends[2];
    long caller = (long)getpid();
    forget(state);
    if (stuck > 0 && waitpid(stuck, NULL, WNOHANG) == 0)
        return false;
    stuck = 0;
    if (pipe(ends))
        return false;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        answer_for(uuid, caller, ends[1]);
    }
    close(ends[1]);
    bool heard = child > 0 && hear(ends[0], &answer);
    close(ends[0]);
    if (child > 0 && !heard)
        kill(child, SIGKILL);
    stuck = child;
    for (int tries = 0; stuck > 0 && tries < 200; tries++)
        if (waitpid(child, NULL, WNOHANG) != 0)
            stuck = 0;
        else
            usleep(500);
    if (!heard)
        return false;
    *state = answer.state;
    return answer.known;
}
