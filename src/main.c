/* SPDX-License-Identifier: MIT */
/* scanbench VERB [OPTIONS]: finds the verb, parses its options, runs it. */
#include "device/counts.h"
#include "registry.h"
#include "verbs/help.h"
#include "verbs/verbs.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_version(void)
{
    printf("scanbench " SCANBENCH_VERSION);
    if (*SCANBENCH_COMMIT)
        printf(" (commit " SCANBENCH_COMMIT "%s)", SCANBENCH_DIRTY ? ", changed since" : "");
    printf(", built for %s\n", device_counter()                ? "counting on the CPU device"
                               : strcmp(device_kind(), "cuda") ? "the CPU device"
                                                               : "NVIDIA GPUs");
}

static void print_usage(FILE *out)
{
    fprintf(out, "usage: scanbench VERB [OPTIONS]\n\n");
    for (int i = 0; verbs[i]; i++)
        fprintf(out, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fprintf(out, "\n`scanbench VERB --help` explains a verb, `scanbench --version` tells the version.\n"
                 "`scanbench help TOPIC` explains\n\n");
    for (const struct topic *topic = topics; topic->name; topic++)
        fprintf(out, "  %-10s %s\n", topic->name, topic->summary);
}

static void print_verb_help(const struct verb *verb)
{
    printf("usage: scanbench %s %s\n\n%s.\n\n", verb->name, verb->usage, verb->summary);
    settings_print_options(verb);
    if (verb->examples)
        printf("\nexamples:\n%s", verb->examples);
}

static const struct verb *find_verb(const char *name)
{
    for (int i = 0; verbs[i]; i++)
        if (!strcmp(verbs[i]->name, name))
            return verbs[i];
    return NULL;
}

static const struct topic *find_topic(const char *name)
{
    for (const struct topic *topic = topics; topic->name; topic++)
        if (!strcmp(topic->name, name))
            return topic;
    return NULL;
}

/* `help`: topics of help will do as well as verbs. */
static int unknown_verb(const char *given, bool help)
{
    const char *names[32];
    int count = 0;
    for (int i = 0; verbs[i]; i++)
        names[count++] = verbs[i]->name;
    for (const struct topic *topic = topics; help && topic->name; topic++)
        names[count++] = topic->name;
    if (!help && find_topic(given)) {
        fprintf(stderr, "scanbench: \"%.100s\" is no verb but a topic: scanbench help %.100s\n", given, given);
        return EXIT_USAGE;
    }
    const char *near = nearest_name(given, names, count);
    fprintf(stderr, "scanbench: no verb %sis named \"%.100s\"; ", help ? "or topic " : "", given);
    if (near)
        fprintf(stderr, "did you mean %s? ", near);
    fprintf(stderr, near ? "(" : "there are ");
    for (int i = 0; i < count; i++)
        fprintf(stderr, "%s%s", i ? ", " : "", names[i]);
    fprintf(stderr, near ? ")\n" : "\n");
    return EXIT_USAGE;
}

/* What was printed counts only if it arrived: a full disk or a closed pipe is an error. */
static int finish(int code)
{
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "scanbench: standard output cannot be written: %s\n", strerror(errno));
        return code ? code : EXIT_WRONG;
    }
    return code;
}

/* Where 0, 1 or 2 is closed, the next file opened would get its number, and messages would go into results. What
 * stands there instead cannot be written, as what is closed cannot. */
static void fill_closed_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

int main(int argc, char **argv)
{
    fill_closed_streams();
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    const char *first = argv[1];
    if (!strcmp(first, "--version")) {
        print_version();
        return finish(0);
    }
    bool help = !strcmp(first, "--help") || !strcmp(first, "-h") || !strcmp(first, "help");
    if (help && argc < 3) {
        print_usage(stdout);
        return finish(0);
    }
    const struct verb *verb = find_verb(help ? argv[2] : first);
    const struct topic *topic = help ? find_topic(argv[2]) : NULL;
    if (!verb && topic) {
        fputs(topic->text, stdout);
        return finish(0);
    }
    if (!verb)
        return unknown_verb(help ? argv[2] : first, help);
    for (int i = 2; i < argc && strcmp(argv[i], "--"); i++) {
        help |= !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h");
        if (!strcmp(argv[i], "--version")) {
            print_version();
            return finish(0);
        }
    }
    if (help) {
        print_verb_help(verb);
        return finish(0);
    }

    struct settings settings;
    int code = settings_parse(&settings, verb, argc - 2, argv + 2);
    if (!code)
        code = verb->run(&settings);
    settings_free(&settings);
    return finish(code);
}
