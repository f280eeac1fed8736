/* SPDX-License-Identifier: MIT */
#include "neighbours.h"

#include "csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The place is anybody's: the file may be another user's, who may have put something else under its name. It is opened
 * without O_CREAT first, since a sticky folder refuses O_CREAT on files of others. */
static int open_shared(const char *path)
{
    enum { FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };
    struct stat about;
    int fd = open(path, FLAGS);
    if (fd < 0 && errno == ENOENT) {
        fd = open(path, FLAGS | O_CREAT | O_EXCL, 0444);
        if (fd >= 0)
            fchmod(fd, 0444); /* whatever the umask says: a read lock wants a reader */
        else if (errno == EEXIST)
            fd = open(path, FLAGS);
    }
    if (fd >= 0 && (fstat(fd, &about) || !S_ISREG(about.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void neighbours_enter(struct neighbours *neighbours, const char *place, const char *device)
{
    char slug[96], path[4200];
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    csv_slug(device, slug, sizeof slug);
    snprintf(path, sizeof path, "%s/scanbench-%s.lock", place, slug);
    neighbours->fd = open_shared(path);
    if (neighbours->fd >= 0 && fcntl(neighbours->fd, F_SETLK, &lock))
        neighbours_leave(neighbours);
}

/* Who would be in the way of a lock for writing: 0, a pid, or -1. */
static long holder(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fd < 0 || fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid > 0 ? (long)lock.l_pid : -1;
}

long neighbours_other(const struct neighbours *neighbours)
{
    return holder(neighbours->fd);
}

void neighbours_leave(struct neighbours *neighbours)
{
    if (neighbours->fd >= 0)
        close(neighbours->fd);
    neighbours->fd = -1;
}

int claim_folder(struct claim *claim, const char *folder, char *why, size_t size)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat opened, named;
    snprintf(claim->path, sizeof claim->path, "%s/.lock", folder);
    for (;;) {
        claim->fd = open(claim->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (claim->fd < 0) {
            snprintf(why, size, "cannot write %s: %s", claim->path, strerror(errno));
            return -1;
        }
        if (fcntl(claim->fd, F_SETLK, &lock)) {
            bool taken = errno == EACCES || errno == EAGAIN;
            long pid = holder(claim->fd);
            close(claim->fd);
            claim->fd = -1;
            if (!taken) /* a file system without locks: then nobody can tell */
                return 0;
            if (pid > 0)
                snprintf(why, size, "process %ld is measuring in it", pid);
            else
                snprintf(why, size, "another process is measuring in it");
            return -1;
        }
        /* A holder removes the file before it lets go: what is locked here has to be what stands there. */
        if (!fstat(claim->fd, &opened) && !stat(claim->path, &named) && opened.st_ino == named.st_ino &&
            opened.st_dev == named.st_dev)
            return 0;
        close(claim->fd);
    }
}

void claim_release(struct claim *claim)
{
    if (claim->fd < 0)
        return;
    unlink(claim->path);
    close(claim->fd);
    claim->fd = -1;
}
