/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* ppoll */
#include "supervisor.h"

#include "contest.h"
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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const double OPEN_LIMIT_S = 120; /* a driver that wakes eight GPUs takes its time */
static const double REAP_LIMIT_S = 10;  /* a process that sits in a driver cannot even be killed at once */

/* They end a run; the worker lives until the supervisor ends it. */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = 3 };

enum { SAMPLES_A_MESSAGE = 100 };

struct message {
    enum { MESSAGE_OPEN, MESSAGE_HELLO, MESSAGE_SAMPLES, MESSAGE_ROW } what;
    int index;
    bool last; /* the worker ends now: the device is of no more use to it */
    int sample_count, sample_from;
    union {
        struct worker_hello hello;
        struct row row;
        struct sample samples[SAMPLES_A_MESSAGE];
    };
};
_Static_assert(sizeof(struct message) <= PIPE_BUF, "a message arrives whole or not at all");

/* Memory that supervisor and worker share: whose turn it is. Looking costs the worker nothing, a message would. */
struct beat {
    _Atomic int index;      /* of the point that is being worked on; -1: none yet */
    _Atomic uint64_t turns; /* changes with every turn */
};

/* ------------------------------------------------------------------------------------------------ the worker */

/* Set by the supervisor's signal: points that are being timed end with what they have. */
static volatile sig_atomic_t stop_asked;

static void on_stop(int number)
{
    (void)number;
    stop_asked = 1;
}

static bool needs_device(const struct point *point)
{
    return point->algorithm->runs_on != HOST && point->algorithm->run;
}

static void tell(int pipe, const struct message *message)
{
    ssize_t wrote;
    do
        wrote = write(pipe, message, sizeof *message);
    while (wrote < 0 && errno == EINTR);
    if (wrote != (ssize_t)sizeof *message)
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
    } else if (!needed) {
        hello->error = 0;
        snprintf(hello->properties.kind, sizeof hello->properties.kind, "%s", device_kind());
    }
    return !hello->error;
}

/* What timing costs here. The buffers that make caches cold are taken first, while there is memory. */
static bool get_ready(const struct supervision *s, struct worker_hello *hello)
{
    char why[400];
    for (int i = 0; i < s->count; i++)
        if (s->points[i].cache == CACHE_COLD) {
            device_cold_prepare(why, sizeof why); /* where that fails, each of these points says so */
            break;
        }
    overheads_measure(s->points, s->count, &s->job, &hello->overheads);
    hello->error = device_error();
    if (hello->error)
        snprintf(hello->why, sizeof hello->why, "the device fails at once: %.300s", device_error_text());
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

/* What a worker sees of the supervision, and what it was told. */
struct work {
    const struct supervision *s;
    struct beat *beat;
    const bool *done;
    bool first; /* worker of this supervision */
    int pipe;
    struct job_options job; /* s->job, and the clock the GPU held at the start */
};

static void take_turn(void *arg, int index)
{
    const struct work *work = arg;
    work->beat->index = index;
    work->beat->turns++;
}

static void tell_samples(void *arg, int index, const struct sample *samples, int count)
{
    const struct work *work = arg;
    for (int from = 0; from < count; from += SAMPLES_A_MESSAGE) {
        struct message message;
        memset(&message, 0, sizeof message);
        message.what = MESSAGE_SAMPLES;
        message.index = index;
        message.sample_from = from;
        message.sample_count = count - from < SAMPLES_A_MESSAGE ? count - from : SAMPLES_A_MESSAGE;
        memcpy(message.samples, samples + from, (size_t)message.sample_count * sizeof *samples);
        tell(work->pipe, &message);
    }
}

static void tell_row(void *arg, int index, const struct row *row)
{
    const struct work *work = arg;
    struct message message;
    memset(&message, 0, sizeof message);
    message.what = MESSAGE_ROW;
    message.index = index;
    message.row = *row;
    message.last = device_error() != 0;
    tell(work->pipe, &message);
}

/* One point after the other, in plan order. */
static void work_in_order(struct work *work, struct device_options *options)
{
    const struct supervision *s = work->s;
    for (int i = 0; i < s->count; i++) {
        struct message message;
        if (work->done[i])
            continue;
        memset(&message, 0, sizeof message);
        message.what = MESSAGE_ROW;
        message.index = i;
        take_turn(work, i);
        if (!reopen(s, options, &s->points[i], &message.row))
            message.last = true;
        else if (s->profile)
            job_profile(&s->points[i], &s->job, &message.row);
        else
            job_run(&s->points[i], &s->job, &message.row);
        message.last |= device_error() != 0;
        tell(work->pipe, &message);
        if (message.last)
            break;
    }
}

/* Those of one size take turns, one size after the other, as plan_order has them. */
static void work_in_turns(struct work *work)
{
    const struct supervision *s = work->s;
    int *order = calloc((size_t)s->count + 1, sizeof *order), *first = calloc((size_t)s->count + 1, sizeof *first);
    if (!order || !first)
        _exit(EXIT_WRONG);
    int groups = plan_order(s->points, s->count, s->job.seed, order, first);
    for (int g = 0; g < groups && !device_error() && !stop_asked; g++) {
        int members = 0;
        for (int i = first[g]; i < first[g + 1]; i++)
            if (!work->done[order[i]])
                order[first[g] + members++] = order[i];
        struct contest contest = {
            .points = s->points,
            .members = order + first[g],
            .count = members,
            .options = &work->job,
            .seed = s->job.seed + (uint64_t)g,
            .on_turn = take_turn,
            .on_samples = tell_samples,
            .on_row = tell_row,
            .arg = work,
            .stop = &stop_asked,
        };
        if (members)
            contest_run(&contest);
    }
    free(order);
    free(first);
}

static void work(struct work *work)
{
    const struct supervision *s = work->s;
    struct message message;
    struct device_options options = s->device_options;
    int first = 0;
    while (work->done[first])
        first++;
    options.schedule = s->points[first].schedule;
    options.seed = s->points[first].schedule_seed;
    options.resident = resident_of(s, &s->points[first]);

    memset(&message, 0, sizeof message);
    message.what = MESSAGE_HELLO;
    bool opened = open_device(s, &options, &message.hello);
    if (opened && work->first && message.hello.properties.name[0] && s->job.timed && !s->profile) {
        message.what = MESSAGE_OPEN;
        tell(work->pipe, &message);
        message.what = MESSAGE_HELLO;
        opened = get_ready(s, &message.hello);
    }
    if (work->first && message.hello.overheads.sm_clock_busy_mhz > 0)
        work->job.sm_clock_mhz = message.hello.overheads.sm_clock_busy_mhz;
    tell(work->pipe, &message);
    if (opened && s->job.timed && !s->profile)
        work_in_turns(work);
    else if (opened)
        work_in_order(work, &options);
    device_close();
}

struct worker {
    pid_t process;
    int pipe;
};

/* Points that are `done` are not for this one. */
static bool start_worker(const struct supervision *s, struct beat *beat, const bool *done, bool first,
                         double sm_clock_mhz, struct worker *worker)
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

    /* A terminal, or timeout(1), sends its signal to the whole group: it is the supervisor that ends the worker. */
    sigset_t none;
    sigemptyset(&none);
    for (int i = 0; i < SIGNALS; i++)
        signal(signals[i], SIG_IGN);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_WRONG);
    close(ends[0]);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is for the supervisor's data */
    struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &stop, NULL);
    struct work all = {.s = s, .beat = beat, .done = done, .first = first, .pipe = ends[1], .job = s->job};
    all.job.sm_clock_mhz = sm_clock_mhz;
    work(&all);
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

static volatile sig_atomic_t interrupts;

static void on_signal(int number)
{
    (void)number;
    interrupts++;
}

/* The signals are let in only while the supervisor waits: a row is never cut in two. */
struct signal_state {
    struct sigaction before[SIGNALS];
    sigset_t mask, waiting;
};

static void catch_signals(struct signal_state *state)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t ours;
    interrupts = 0;
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

/* One that came behind the last row is let in first: all is there, and nothing to be ended. */
static void release_signals(const struct signal_state *state)
{
    sigprocmask(SIG_SETMASK, &state->mask, NULL);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &state->before[i], NULL);
}

enum event { EVENT_MESSAGE, EVENT_END, EVENT_TIMEOUT, EVENT_INTERRUPT };

/* A supervision in progress. */
struct run {
    const struct supervision *s;
    struct signal_state signals;
    struct worker worker;
    struct beat *beat;
    bool *done;          /* points that have a row */
    int left;            /* points that have none */
    int told;            /* the point on_start was last called for; -1: none */
    bool greeted;        /* on_hello has been called */
    double sm_clock_mhz; /* under load, as the first worker found it; 0: unknown */
    int interrupts_seen;
    bool ending;            /* interrupted: turns are no sign of life any more */
    struct sample *samples; /* of the point `samples_of`, as they arrive */
    int sample_count, samples_of;
};

static void start(struct run *run, int index)
{
    if (index == run->told || index < 0 || run->done[index])
        return;
    run->told = index;
    run->s->on_start(run->s->arg, index);
}

static void end_point(struct run *run, int index, const struct row *row)
{
    start(run, index);
    run->told = -1;
    if (run->done[index])
        return;
    run->done[index] = true;
    run->left--;
    if (run->sample_count && run->samples_of == index && run->s->on_samples)
        run->s->on_samples(run->s->arg, index, run->samples, run->sample_count);
    run->sample_count = 0;
    run->s->on_row(run->s->arg, index, row);
}

static void collect_samples(struct run *run, const struct message *message)
{
    int count = message->sample_from + message->sample_count;
    struct sample *larger = realloc(run->samples, (size_t)count * sizeof *larger);
    if (!larger)
        return;
    run->samples = larger;
    memcpy(larger + message->sample_from, message->samples, (size_t)message->sample_count * sizeof *larger);
    run->samples_of = message->index;
    run->sample_count = count;
}

static const double LOOK_S = 0.25;   /* how often the beat is looked at */
static const double STOPPED_S = 1.5; /* between two looks: the process was stopped, by Ctrl-Z perhaps */

/* Waits for a whole message until `limit_s` from the last sign of life have passed, or for a signal not yet seen. Time
 * in which this process itself was stopped does not count, and what has come meanwhile is read before time is up. */
static enum event wait_for(struct run *run, double limit_s, struct message *message)
{
    double looked = timer_now_s(), deadline = looked + limit_s;
    uint64_t turns = run->beat->turns;
    size_t got = 0;
    bool time_is_up = false;
    while (interrupts == run->interrupts_seen) {
        double left = time_is_up ? 0 : fmax(deadline - looked, 0);
        left = fmin(left, LOOK_S);
        struct timespec timeout = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9)};
        struct pollfd poll = {.fd = run->worker.pipe, .events = POLLIN};
        int ready = ppoll(&poll, 1, &timeout, &run->signals.waiting);
        double now = timer_now_s();
        if (now - looked > STOPPED_S)
            deadline += now - looked;
        looked = now;
        if (run->beat->turns != turns && run->greeted && !run->ending) {
            turns = run->beat->turns;
            deadline = now + limit_s;
            time_is_up = false;
            if (ready == 0)
                start(run, run->beat->index);
        }
        if (ready <= 0) {
            if (time_is_up)
                return EVENT_TIMEOUT;
            time_is_up = now >= deadline;
            continue;
        }
        ssize_t bytes = read(run->worker.pipe, (char *)message + got, sizeof *message - got);
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes <= 0)
            return EVENT_END;
        got += (size_t)bytes;
        if (got == sizeof *message)
            return EVENT_MESSAGE;
    }
    run->interrupts_seen = interrupts;
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

static bool stopped(const struct supervision *s)
{
    return s->stop && *s->stop;
}

/* All points without a row get the same one. */
static void give_up(struct run *run, const char *why)
{
    struct row row;
    row_set(&row, STATUS_NOT_RUN, "device-lost", why);
    for (int i = 0; i < run->s->count && !stopped(run->s); i++)
        if (!run->done[i])
            end_point(run, i, &row);
}

enum outcome { WORKER_DONE, WORKER_NO_DEVICE, WORKER_INTERRUPTED };

/* The worker says what it has found, or why it cannot work. */
static enum outcome greet(struct run *run)
{
    const struct supervision *s = run->s;
    struct message message;
    enum event event = wait_for(run, OPEN_LIMIT_S, &message);
    if (event == EVENT_MESSAGE && message.what == MESSAGE_OPEN) {
        if (s->on_open)
            s->on_open(s->arg, &message.hello);
        event = wait_for(run, OPEN_LIMIT_S, &message);
    }
    if (event == EVENT_INTERRUPT) {
        end_worker(&run->worker, true);
        return WORKER_INTERRUPTED;
    }
    if (event != EVENT_MESSAGE) {
        int status = end_worker(&run->worker, event == EVENT_TIMEOUT);
        struct row row;
        memset(&message, 0, sizeof message);
        crashed(status, &row);
        message.hello.error = -1;
        snprintf(message.hello.why, sizeof message.hello.why, "opening the device failed: %.300s",
                 event == EVENT_TIMEOUT ? "no answer in two minutes" : row.message);
    }
    bool again = run->greeted;
    if (!again)
        s->on_hello(s->arg, &message.hello);
    if (!message.hello.error) {
        if (!again && message.hello.overheads.sm_clock_busy_mhz > 0)
            run->sm_clock_mhz = message.hello.overheads.sm_clock_busy_mhz;
        run->greeted = true;
        return WORKER_DONE;
    }
    if (event == EVENT_MESSAGE)
        end_worker(&run->worker, false);
    if (again)
        give_up(run, message.hello.why);
    return WORKER_NO_DEVICE;
}

/* Points that are being timed end with what they have: the worker is asked, and killed where it does not answer. */
static enum outcome interrupt(struct run *run)
{
    const struct supervision *s = run->s;
    struct message message;
    bool patient = s->job.timed && !s->profile;
    double limit_s = fmin(INTERRUPT_LIMIT_S, s->point_limit_s), until = timer_now_s() + limit_s;
    run->ending = true;
    if (patient)
        kill(run->worker.process, SIGUSR1);
    while (patient && run->left && !stopped(s)) {
        enum event event = wait_for(run, until - timer_now_s(), &message);
        if (event != EVENT_MESSAGE)
            break;
        if (message.what == MESSAGE_SAMPLES)
            collect_samples(run, &message);
        else
            end_point(run, message.index, &message.row);
    }
    end_worker(&run->worker, true);
    return WORKER_INTERRUPTED;
}

/* One worker's life: rows come until there is none left, or until it ends on the way, which costs the point it was at.
 */
static enum outcome follow(struct run *run)
{
    const struct supervision *s = run->s;
    struct message message;
    struct row row;
    while (run->left && !stopped(s)) {
        enum event event = wait_for(run, s->point_limit_s, &message);
        if (event == EVENT_INTERRUPT)
            return interrupt(run);
        if (event == EVENT_MESSAGE && message.what == MESSAGE_SAMPLES) {
            collect_samples(run, &message);
            continue;
        }
        if (event == EVENT_MESSAGE) {
            end_point(run, message.index, &message.row);
            if (!message.last)
                continue;
            end_worker(&run->worker, false);
            return WORKER_DONE;
        }
        int status = end_worker(&run->worker, event == EVENT_TIMEOUT), at = run->beat->index;
        if (event == EVENT_TIMEOUT)
            timed_out(s->point_limit_s, &row);
        else
            crashed(status, &row);
        if (at < 0 || run->done[at]) {
            give_up(run, row.message);
            return WORKER_NO_DEVICE;
        }
        end_point(run, at, &row);
        return WORKER_DONE;
    }
    end_worker(&run->worker, stopped(s));
    return WORKER_DONE;
}

static int supervise_workers(struct run *run)
{
    const struct supervision *s = run->s;
    while (run->left && !stopped(s)) {
        bool first = !run->greeted;
        run->beat->index = -1;
        if (!start_worker(s, run->beat, run->done, first, run->sm_clock_mhz, &run->worker)) {
            char why[200];
            snprintf(why, sizeof why, "no worker process can be started: %s", strerror(errno));
            give_up(run, why);
            return 0;
        }
        enum outcome outcome = greet(run);
        if (outcome == WORKER_DONE)
            outcome = follow(run);
        if (outcome == WORKER_INTERRUPTED)
            return EXIT_INTERRUPTED;
        if (outcome == WORKER_NO_DEVICE)
            return run->greeted ? 0 : EXIT_NO_DEVICE;
    }
    return 0;
}

int supervise(const struct supervision *s)
{
    struct run run = {.s = s, .told = -1, .samples_of = -1};
    run.beat = mmap(NULL, sizeof *run.beat, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    run.done = calloc((size_t)s->count + 1, sizeof *run.done);
    if (run.beat == MAP_FAILED || !run.done) {
        fprintf(stderr, "scanbench: no host memory for a plan of %d points\n", s->count);
        free(run.done);
        return EXIT_WRONG;
    }
    for (int i = 0; i < s->count; i++) {
        run.done[i] = s->skip && s->skip[i];
        run.left += !run.done[i];
    }
    catch_signals(&run.signals);
    int code = supervise_workers(&run);
    release_signals(&run.signals);
    munmap(run.beat, sizeof *run.beat);
    free(run.done);
    free(run.samples);
    return code;
}
