/* SPDX-License-Identifier: MIT */
/* Who else measures: two processes at one place, places that cannot be written, folders that belong to one. */
#include "neighbours.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static char place[] = "/tmp/scanbench-neighbours-XXXXXX";

static void report(bool right, const char *name, const char *why)
{
    if (right)
        printf("ok %s\n", name);
    else
        printf("not ok %s: %s\n", name, why);
    fflush(stdout);
    failures += !right;
}

/* A process that holds the device, or the folder, until it is ended. */
static pid_t start_holder(const char *device, const char *folder)
{
    int ready[2];
    char byte = 0;
    if (pipe(ready))
        return -1;
    pid_t holder = fork();
    if (holder == 0) {
        struct neighbours neighbours = {.fd = -1};
        struct claim claim = {.fd = -1};
        char why[4400];
        if (device)
            neighbours_enter(&neighbours, place, device);
        if (folder && claim_folder(&claim, folder, why, sizeof why))
            _exit(1);
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        holder = -1;
    close(ready[0]);
    return holder;
}

static void end_holder(pid_t holder)
{
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
}

static void test_device(void)
{
    struct neighbours mine;
    char path[200], why[100];
    struct stat about;
    mode_t mask = umask(077);
    neighbours_enter(&mine, place, "GPU-1234");
    umask(mask);
    snprintf(path, sizeof path, "%s/scanbench-gpu-1234.lock", place);
    report(mine.fd >= 0 && !neighbours_other(&mine), "alone", "a process is no neighbour of itself");
    report(!stat(path, &about) && (about.st_mode & 0777) == 0444, "readable_by_all", "whatever the umask is");

    pid_t holder = start_holder("GPU-1234", NULL);
    long other = neighbours_other(&mine);
    snprintf(why, sizeof why, "process %ld is there, %ld is seen", (long)holder, other);
    report(holder > 0 && other == holder, "another_is_seen", why);
    if (fork() == 0) /* as a worker is: nothing of it may end what its parent holds */
        _exit(0);
    wait(NULL);
    report(neighbours_other(&mine) == holder, "another_is_still_seen", "after a child of this process has ended");
    end_holder(holder);
    report(!neighbours_other(&mine), "killed_is_gone", "a lock ends with its process");

    holder = start_holder("GPU-5678", NULL);
    report(holder > 0 && !neighbours_other(&mine), "another_device", "two devices have nothing to do with each other");
    end_holder(holder);
    neighbours_leave(&mine);
    report(mine.fd < 0 && !neighbours_other(&mine), "left", "nobody is seen from outside");
}

/* In a process of its own, as nobody where that is possible. */
static bool as_nobody(bool (*test)(void))
{
    int status;
    fflush(stdout);
    if (fork() == 0) {
        if (getuid() == 0 && setuid(65534))
            _exit(2);
        _exit(test() ? 0 : 1);
    }
    wait(&status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool sees_nobody_and_goes_on(void)
{
    struct neighbours mine;
    neighbours_enter(&mine, place, "cpu");
    return mine.fd < 0 && !neighbours_other(&mine);
}

static bool sees_somebody(void)
{
    struct neighbours mine;
    neighbours_enter(&mine, place, "shared");
    return neighbours_other(&mine) > 0;
}

static void test_places(void)
{
    struct neighbours mine;
    char path[300];
    chmod(place, 0555);
    report(as_nobody(sees_nobody_and_goes_on), "unwritable_place", "nothing is lost, nobody is seen");
    chmod(place, 01777);

    pid_t holder = start_holder("shared", NULL);
    report(holder > 0 && as_nobody(sees_somebody), "file_of_another_user", "in a sticky folder it has to be opened");
    end_holder(holder);

    neighbours_enter(&mine, "/nonexistent", "cpu");
    report(mine.fd < 0, "no_place", "there is nothing to be opened");

    /* What else could stand there must neither be followed nor waited for. */
    snprintf(path, sizeof path, "%s/scanbench-fifo.lock", place);
    if (mkfifo(path, 0666))
        perror(path);
    neighbours_enter(&mine, place, "fifo");
    report(mine.fd < 0, "a_pipe", "it is no file");
    snprintf(path, sizeof path, "%s/scanbench-link.lock", place);
    if (symlink("/etc/passwd", path))
        perror(path);
    neighbours_enter(&mine, place, "link");
    report(mine.fd < 0, "a_link", "it must not be followed");
}

static void test_claims(void)
{
    struct claim mine = {.fd = -1};
    char why[4400] = "", expected[100], path[300];
    struct stat about;
    pid_t holder = start_holder(NULL, place);
    int refused = claim_folder(&mine, place, why, sizeof why);
    snprintf(expected, sizeof expected, "process %ld is measuring in it", (long)holder);
    report(refused && !strcmp(why, expected), "claimed_by_another", why);
    end_holder(holder);
    snprintf(path, sizeof path, "%s/.lock", place);
    report(!stat(path, &about) && !claim_folder(&mine, place, why, sizeof why), "claim_after_a_kill", why);
    claim_release(&mine);
    report(stat(path, &about) != 0, "claim_leaves_nothing", "the lock is still there");

    /* Many at once: one at a time has it. */
    enum { PROCESSES = 8, ROUNDS = 200 };
    snprintf(path, sizeof path, "%s/inside", place);
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            int wrong = 0;
            for (int round = 0; round < ROUNDS; round++) {
                if (claim_folder(&mine, place, why, sizeof why))
                    continue;
                int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666);
                wrong += fd < 0 || unlink(path);
                claim_release(&mine);
            }
            _exit(wrong ? 1 : 0);
        }
    bool right = true;
    for (int status; wait(&status) > 0;)
        right = right && status == 0;
    report(right, "claims_of_eight", "two had the folder at once");
}

int main(void)
{
    char command[300];
    if (!mkdtemp(place)) {
        perror(place);
        return 1;
    }
    test_device();
    test_places();
    test_claims();
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    if (system(command))
        fprintf(stderr, "cannot remove %s\n", place);
    return failures != 0;
}
