/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* ppoll */
#include "supervisor.h"

#include "device/device.h"
#include "timer.h"
#include "verbs/verbs.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const double OPEN_LIMIT_S = 120; /* a driver that wakes eight GPUs takes its time */
static const double REAP_LIMIT_S = 10;  /* a process that sits in a driver cannot even be killed at once */

struct message {
    enum { MESSAGE_HELLO, MESSAGE_ROW } what;
    int index;
    bool last; /* the worker ends now: the device is of no more use to it */
    union {
        struct worker_hello hello;
        struct row row;
    };
};
_Static_assert(sizeof(struct message) <= PIPE_BUF, "a message arrives whole or not at all");

/* ------------------------------------------------------------------------------------------------ the worker */

static bool needs_device(const struct point *point)
{
    return point->algorithm->runs_on != HOST && point->algorithm->run;
}

static void tell(int pipe, const struct message *message)
{
    if (write(pipe, message, sizeof *message) != (ssize_t)sizeof *message)
        _exit(EXIT_WRONG);
}

/* False where the device is not there and points need it. */
static bool open_device(const struct supervision *s, const struct device_options *options, struct worker_hello *hello)
{
    bool needed = false;
    for (int i = 0; i < s->count && !needed; i++)
        needed = needs_device(&s->points[i]);
    hello->error = device_open(s->device, options, hello->why, sizeof hello->why);
    if (!hello->error) {
        device_get_properties(&hello->properties);
        hello->event_resolution_s = device_event_resolution_s();
    } else if (!needed) {
        hello->error = 0;
        snprintf(hello->properties.kind, sizeof hello->properties.kind, "%s", device_kind());
    }
    return !hello->error;
}

static int resident_of(const struct supervision *s, const struct point *point)
{
    return point->resident ? point->resident : s->device_options.resident;
}

/* The CPU device takes its order of threads and blocks, and how many of these are resident, when it is opened. */
static bool reopen(const struct supervision *s, struct device_options *options, const struct point *point,
                   struct row *row)
{
    char why[400], message[500];
    bool same = options->schedule == point->schedule && options->resident == resident_of(s, point) &&
                (options->schedule != SCHEDULE_SHUFFLED || options->seed == point->schedule_seed);
    if (same || !needs_device(point) || strcmp(device_kind(), "cpu") != 0)
        return true;
    device_close();
    options->schedule = point->schedule;
    options->seed = point->schedule_seed;
    options->resident = resident_of(s, point);
    if (!device_open(s->device, options, why, sizeof why))
        return true;
    snprintf(message, sizeof message, "the device cannot be opened again: %s", why);
    row_set(row, STATUS_ERROR, "device-lost", message);
    return false;
}

static void work(const struct supervision *s, int first, int pipe)
{
    struct message message;
    struct device_options options = s->device_options;
    options.schedule = s->points[first].schedule;
    options.seed = s->points[first].schedule_seed;
    options.resident = resident_of(s, &s->points[first]);

    memset(&message, 0, sizeof message);
    message.what = MESSAGE_HELLO;
    bool opened = open_device(s, &options, &message.hello);
    tell(pipe, &message);

    for (int i = first; opened && i < s->count; i++) {
        memset(&message, 0, sizeof message);
        message.what = MESSAGE_ROW;
        message.index = i;
        if (reopen(s, &options, &s->points[i], &message.row))
            job_run(&s->points[i], &s->job, &message.row);
        else
            message.last = true;
        message.last |= device_error() != 0;
        tell(pipe, &message);
        if (message.last)
            break;
    }
    device_close();
}

struct worker {
    pid_t process;
    int pipe;
};

static bool start_worker(const struct supervision *s, int first, struct worker *worker)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe(ends))
        return false;
    fflush(NULL); /* or both processes would write what is still in the buffers */
    worker->pipe = ends[0];
    worker->process = fork();
    if (worker->process < 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (worker->process > 0) {
        close(ends[1]);
        return true;
    }

    /* A terminal sends SIGINT to the whole group: it is the supervisor that ends the worker. */
    sigset_t none;
    sigemptyset(&none);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_WRONG);
    close(ends[0]);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is for the supervisor's data */
    work(s, first, ends[1]);
    fflush(NULL);
    _exit(0);
}

/* Ends and forgets the worker; its wait status, or -1 where it could not be had. */
static int end_worker(struct worker *worker, bool kill_it)
{
    int status = -1;
    close(worker->pipe);
    if (kill_it)
        kill(worker->process, SIGKILL);
    for (double until = timer_now_s() + REAP_LIMIT_S; timer_now_s() < until; usleep(kill_it ? 1000 : 5000))
        if (waitpid(worker->process, &status, WNOHANG) != 0)
            return status;
    kill(worker->process, SIGKILL);
    return -1;
}

/* ------------------------------------------------------------------------------------------------ the supervisor */

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = 3 };

/* The signals are let in only while the supervisor waits: a row is never cut in two. */
struct signal_state {
    struct sigaction before[SIGNALS];
    sigset_t mask, waiting;
};

static void catch_signals(struct signal_state *state)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t ours;
    interrupted = 0;
    sigemptyset(&ours);
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &state->before[i]);
        if (state->before[i].sa_handler == SIG_IGN) /* nohup, or a shell's background job */
            continue;
        sigaction(signals[i], &action, NULL);
        sigaddset(&ours, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &ours, &state->mask);
    state->waiting = state->mask;
    for (int i = 0; i < SIGNALS; i++)
        if (sigismember(&ours, signals[i]))
            sigdelset(&state->waiting, signals[i]);
}

static void release_signals(const struct signal_state *state)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &state->before[i], NULL);
    sigprocmask(SIG_SETMASK, &state->mask, NULL);
}

enum event { EVENT_MESSAGE, EVENT_END, EVENT_TIMEOUT, EVENT_INTERRUPT };

/* Waits for a whole message until `limit_s` from now have passed. */
static enum event wait_for(const struct worker *worker, const struct signal_state *signal_state, double limit_s,
                           struct message *message)
{
    double deadline = timer_now_s() + limit_s;
    size_t got = 0;
    while (!interrupted) {
        double left = deadline - timer_now_s();
        if (left <= 0)
            return EVENT_TIMEOUT;
        struct timespec timeout = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9)};
        struct pollfd poll = {.fd = worker->pipe, .events = POLLIN};
        int ready = ppoll(&poll, 1, &timeout, &signal_state->waiting);
        if (ready <= 0)
            continue;
        ssize_t bytes = read(worker->pipe, (char *)message + got, sizeof *message - got);
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes <= 0)
            return EVENT_END;
        got += (size_t)bytes;
        if (got == sizeof *message)
            return EVENT_MESSAGE;
    }
    return EVENT_INTERRUPT;
}

/* What a worker's end without a row means. */
static void crashed(int status, struct row *row)
{
    char detail[64], message[200];
    if (status != -1 && WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        snprintf(detail, sizeof detail, "signal-%d", number);
        snprintf(message, sizeof message, "the worker was ended by signal %d (%s)", number, strsignal(number));
    } else {
        int code = status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        snprintf(detail, sizeof detail, "worker-exit-%d", code);
        snprintf(message, sizeof message, "the worker ended with exit code %d and no answer", code);
    }
    row_set(row, STATUS_ERROR, detail, message);
}

static void timed_out(double limit_s, struct row *row)
{
    char detail[64], message[200];
    snprintf(detail, sizeof detail, "over-%.9g-s", limit_s);
    snprintf(message, sizeof message, "no answer within %.9g s: ended", limit_s);
    row_set(row, STATUS_TIMEOUT, detail, message);
}

/* All points from `next` on get the same row. */
static void give_up(const struct supervision *s, int next, const char *why)
{
    struct row row;
    row_set(&row, STATUS_NOT_RUN, "device-lost", why);
    for (; next < s->count && !(s->stop && *s->stop); next++) {
        s->on_start(s->arg, next);
        s->on_row(s->arg, next, &row);
    }
}

static bool stopped(const struct supervision *s)
{
    return s->stop && *s->stop;
}

enum outcome { WORKER_DONE, WORKER_NO_DEVICE, WORKER_INTERRUPTED };

/* One worker's life, from point *next on; *next is then the first point without a row. */
static enum outcome follow(const struct supervision *s, struct worker *worker, const struct signal_state *signal_state,
                           int *next, bool *greeted)
{
    struct message message;
    enum event event = wait_for(worker, signal_state, OPEN_LIMIT_S, &message);
    if (event == EVENT_INTERRUPT) {
        end_worker(worker, true);
        return WORKER_INTERRUPTED;
    }
    if (event != EVENT_MESSAGE) {
        int status = end_worker(worker, event == EVENT_TIMEOUT);
        struct row row;
        memset(&message, 0, sizeof message);
        crashed(status, &row);
        message.hello.error = -1;
        snprintf(message.hello.why, sizeof message.hello.why, "opening the device failed: %.300s",
                 event == EVENT_TIMEOUT ? "no answer in two minutes" : row.message);
    }
    if (!*greeted)
        s->on_hello(s->arg, &message.hello);
    if (message.hello.error) {
        if (event == EVENT_MESSAGE)
            end_worker(worker, false);
        if (*greeted)
            give_up(s, *next, message.hello.why);
        return WORKER_NO_DEVICE;
    }
    *greeted = true;

    while (*next < s->count && !stopped(s)) {
        struct row row;
        s->on_start(s->arg, *next);
        event = wait_for(worker, signal_state, s->point_limit_s, &message);
        if (event == EVENT_INTERRUPT) {
            end_worker(worker, true);
            return WORKER_INTERRUPTED;
        }
        if (event == EVENT_MESSAGE) {
            s->on_row(s->arg, (*next)++, &message.row);
            if (!message.last)
                continue;
            end_worker(worker, false);
            return WORKER_DONE;
        }
        int status = end_worker(worker, event == EVENT_TIMEOUT);
        if (event == EVENT_TIMEOUT)
            timed_out(s->point_limit_s, &row);
        else
            crashed(status, &row);
        s->on_row(s->arg, (*next)++, &row);
        return WORKER_DONE;
    }
    end_worker(worker, stopped(s));
    return WORKER_DONE;
}

int supervise(const struct supervision *s)
{
    struct signal_state signal_state;
    bool greeted = false;
    int next = 0, code = 0;
    catch_signals(&signal_state);
    while (next < s->count && !stopped(s) && !code) {
        struct worker worker;
        if (!start_worker(s, next, &worker)) {
            char why[200];
            snprintf(why, sizeof why, "no worker process can be started: %s", strerror(errno));
            give_up(s, next, why);
            break;
        }
        enum outcome outcome = follow(s, &worker, &signal_state, &next, &greeted);
        if (outcome == WORKER_INTERRUPTED)
            code = EXIT_INTERRUPTED;
        else if (outcome == WORKER_NO_DEVICE) {
            code = greeted ? 0 : EXIT_NO_DEVICE;
            break;
        }
    }
    release_signals(&signal_state);
    return code;
}
