/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include "timer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double LIVE_INTERVAL_S = 0.1;

void progress_begin(struct progress *progress, int total, double interval_s)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool dumb = terminal && !strcmp(terminal, "dumb");
    memset(progress, 0, sizeof *progress);
    progress->total = total;
    progress->live = isatty(STDERR_FILENO) && !dumb;
    progress->color = progress->live && !(no_color && *no_color);
    progress->interval_s = progress->live ? LIVE_INTERVAL_S : interval_s;
    progress->begun_s = timer_now_s();
    progress->shown_s = -1e9;
}

static int columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20)
        return 80;
    return size.ws_col;
}

static void format_eta(const struct progress *progress, double now, char *text, size_t size)
{
    double spent = now - progress->begun_s, share = progress->share;
    text[0] = '\0';
    if (progress->done < 1 || spent < 1 || (share > 0 && share < 0.1)) /* too early to tell */
        return;
    if (!(share > 0))
        share = (double)progress->done / progress->total;
    double left = spent / share * (1 - share) + 0.5;
    int seconds = left < 360000 ? (int)left : 360000;
    if (seconds >= 3600)
        snprintf(text, size, ", %d h %02d min left", seconds / 3600, seconds / 60 % 60);
    else if (seconds >= 60)
        snprintf(text, size, ", %d min %02d s left", seconds / 60, seconds % 60);
    else
        snprintf(text, size, ", %d s left", seconds);
}

void progress_point(struct progress *progress, int index, const char *format, ...)
{
    double now = timer_now_s();
    progress->done = index;
    if (now - progress->shown_s < progress->interval_s)
        return;
    progress->shown_s = now;

    char point[256], eta[64], line[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(point, sizeof point, format, arguments);
    va_end(arguments);
    format_eta(progress, now, eta, sizeof eta);
    snprintf(line, sizeof line, "[%d/%d] %s%s", index + 1, progress->total, point, eta);

    if (progress->live) {
        fprintf(stderr, "\r%.*s\033[K", columns() - 1, line);
        progress->on_screen = true;
    } else {
        fprintf(stderr, "%s\n", line);
    }
    fflush(stderr);
}

void progress_wipe(struct progress *progress)
{
    if (!progress->on_screen)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->on_screen = false;
    progress->shown_s = -1e9;
}

void progress_note(struct progress *progress, bool bad, const char *format, ...)
{
    va_list arguments;
    progress_wipe(progress);
    if (bad && progress->color)
        fputs("\033[31m", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs(bad && progress->color ? "\033[0m\n" : "\n", stderr);
    fflush(stderr);
}
