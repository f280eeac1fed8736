/* SPDX-License-Identifier: MIT */
/* nvml_reader UUID: what nvml_read says of this GPU, in one line. With "child": FAKE_PIDS is a child and a grandchild.
 */
#include "nvml.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that has a child, both waiting until their pipe is closed. The grandchild's PID comes through `pid`. */
static pid_t spawn_two(int *hold, pid_t *grandchild)
{
    int held[2], told[2];
    if (pipe(held) || pipe(told))
        exit(2);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(held[1]);
        pid_t pid = fork();
        if (pid == 0)
            _exit(read(held[0], &byte, 1) != 0);
        if (write(told[1], &pid, sizeof pid) != sizeof pid)
            _exit(2);
        waitpid(pid, NULL, 0);
        _exit(0);
    }
    *hold = held[1];
    if (child < 0 || read(told[0], grandchild, sizeof *grandchild) != sizeof *grandchild)
        exit(2);
    return child;
}

int main(int argc, char **argv)
{
    struct gpu_state state;
    if (argc < 2)
        return 2;
    if (argc > 2 && !strcmp(argv[2], "child")) {
        char pids[80];
        int hold;
        pid_t grandchild, child = spawn_two(&hold, &grandchild);
        snprintf(pids, sizeof pids, "%ld %ld %ld", (long)child, (long)grandchild, (long)getppid());
        setenv("FAKE_PIDS", pids, 1);
        bool known = nvml_read(argv[1], &state);
        close(hold);
        waitpid(child, NULL, 0);
        printf("%d others=%d\n", known, state.other_processes);
        return 0;
    }
    bool known = nvml_read(argv[1], &state);
    printf("%d temperature=%d power=%g others=%d sm=%d mem=%d locked=%d throttled=%s\n", known, state.temperature_c,
           state.power_limit_w, state.other_processes, state.sm_clock_mhz, state.mem_clock_mhz, state.clocks_locked,
           state.throttled);
    return 0;
}
