/* SPDX-License-Identifier: MIT */
/* What `scanbench help TOPIC` prints. A topic is no verb: it explains what several of them have in common. */
#ifndef HELP_H
#define HELP_H

struct topic {
    const char *name, *summary;
    const char *text; /* a page for a terminal of 80 columns */
};

extern const struct topic topics[]; /* ended by a topic without a name */

#endif
