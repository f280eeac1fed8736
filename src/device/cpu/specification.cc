/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu/specification.h"
#include "device/device.h"

/* How a value is written: numbers joined by ':', a count, a text, or a kernel with what befalls it. */
enum form { NUMBERS, COUNT, TEXT, FAULT };

struct key {
    const char *name;
    enum form form;
    size_t offset;
    double least, most; /* of each number, or of the count */
    int needed, room;   /* numbers; room: size of the text, or the kind of the fault */
};

#define AT(member) offsetof(struct specification, member)
#define SECONDS(name)                                                                                                  \
    {                                                                                                                  \
#name, NUMBERS, AT(name), 0, 1e6, 1, 1                                                                         \
    }
#define FLAG(name)                                                                                                     \
    {                                                                                                                  \
#name, COUNT, AT(name), 0, 1, 1, 1                                                                             \
    }
#define TEXT_OF(name)                                                                                                  \
    {                                                                                                                  \
#name, TEXT, AT(name), 0, 0, 1, int(sizeof(specification::name))                                               \
    }

static const struct key keys[] = {
    SECONDS(launch),
    SECONDS(latency),
    SECONDS(gap),
    SECONDS(empty),
    SECONDS(thread),
    SECONDS(byte),
    SECONDS(record),
    SECONDS(sync),
    SECONDS(graph),
    SECONDS(graph_gap),
    SECONDS(transfer),
    SECONDS(release),
    SECONDS(resolution),
    SECONDS(first),
    {"queue", COUNT, AT(queue), 1, 1 << 20, 1, 1},
    FLAG(gate),
    {"seed", COUNT, AT(seed), 0, 9e15, 1, 1},
    {"noise", NUMBERS, AT(noise), 0, 10, 1, 1},
    {"drift", NUMBERS, AT(drift), 0, 1e6, 1, 1},
    {"throttle", NUMBERS, AT(throttle), 0, 1e6, 3, 4},
    {"busy", NUMBERS, AT(busy), 0, 1e6, 2, 2},
    {"cold", NUMBERS, AT(cold), 1, 1e6, 1, 1},
    TEXT_OF(name),
    TEXT_OF(uuid),
    TEXT_OF(driver),
    {"cc", NUMBERS, AT(capability), 1, 99, 1, 1},
    {"sm", COUNT, AT(sm), 0, 1e6, 1, 1},
    {"clock", COUNT, AT(clock), 0, 1e6, 1, 1},
    {"memclock", COUNT, AT(memclock), 0, 1e6, 1, 1},
    {"bus", COUNT, AT(bus), 0, 1e6, 1, 1},
    {"l2", COUNT, AT(l2), 0, 1e12, 1, 1},
    FLAG(mig),
    FLAG(wsl),
    FLAG(cooperative),
    {"temperature", NUMBERS, AT(temperature), -1, 1000, 1, 1},
    {"power", NUMBERS, AT(power), 0, 1e6, 1, 1},
    {"processes", NUMBERS, AT(processes), -1, 1e6, 1, 1},
    {"locked", NUMBERS, AT(locked), -1, 1, 1, 1},
    {"open", COUNT, AT(open), 1, 9999, 1, 1},
    {"malloc", NUMBERS, AT(malloc), 1, 1e9, 1, 2},
    {"fail", FAULT, 0, 1, 9999, 1, FAULT_FAIL},
    {"hang", FAULT, 0, 0, 0, 0, FAULT_HANG},
    {"crash", FAULT, 0, 0, 0, 0, FAULT_CRASH},
    {"wrong", FAULT, 0, 0, 0, 0, FAULT_WRONG},
    {"lasts", FAULT, 0, 0, 1e6, 1, FAULT_LASTS},
};
constexpr int KEYS = sizeof keys / sizeof *keys;

struct reason {
    char *why;
    size_t size;
};

static bool number_of(const char *text, const char **end, double least, double most, double *number)
{
    char *stop;
    *number = strtod(text, &stop);
    *end = stop;
    return stop != text && *number >= least && *number <= most && strchr("+-.0123456789", *text) && *text;
}

static bool parse_numbers(const struct key *key, const char *value, double *numbers, struct reason *reason)
{
    static const char *const names[] = {"", "NUMBER", "NUMBER:NUMBER", "NUMBER:NUMBER:NUMBER"};
    const char *at = value;
    int count = 0;
    for (;;) {
        if (count == key->room || !number_of(at, &at, key->least, key->most, &numbers[count]))
            break;
        count++;
        if (!*at && count >= key->needed)
            return true;
        if (*at++ != ':')
            break;
    }
    snprintf(reason->why, reason->size, "%s=%s: %s%s, from %g to %g", key->name, value, names[key->needed],
             key->room > key->needed ? "[:NUMBER]" : "", key->least, key->most);
    return false;
}

static bool parse_count(const struct key *key, const char *value, uint64_t *count, struct reason *reason)
{
    const char *end;
    double number;
    if (!number_of(value, &end, key->least, key->most, &number) || *end || number != double(uint64_t(number))) {
        snprintf(reason->why, reason->size, "%s=%s: a whole number from %.0f to %.0f", key->name, value, key->least,
                 key->most);
        return false;
    }
    *count = uint64_t(number);
    return true;
}

static bool parse_text(const struct key *key, const char *value, char *text, struct reason *reason)
{
    if (!*value || strlen(value) >= size_t(key->room)) {
        snprintf(reason->why, reason->size, "%s=%s: a text of 1 to %d characters", key->name, value, key->room - 1);
        return false;
    }
    strcpy(text, value);
    return true;
}

/* "@12" or "#3": the number behind `mark`, at least 1. */
static bool parse_part(const char **at, char mark, uint64_t *number)
{
    if (**at != mark)
        return true;
    const char *digits = *at + 1;
    char *end;
    *number = strtoull(digits, &end, 10);
    *at = end;
    return end != digits && *digits >= '0' && *digits <= '9' && *number > 0;
}

static bool parse_fault(const struct key *key, const char *value, struct specification *all, struct reason *reason)
{
    if (all->fault_count == MOST_FAULTS) {
        snprintf(reason->why, reason->size, "%s=%s: at most %d faults of kernels", key->name, value, MOST_FAULTS);
        return false;
    }
    struct fault *fault = &all->faults[all->fault_count++];
    const size_t length = strcspn(value, "@#:");
    const char *at = value + length;
    *fault = {fault_kind(key->room), "", 0, 1, 0};
    bool good = length > 0 && length < sizeof fault->kernel && parse_part(&at, '@', &fault->blocks) &&
                parse_part(&at, '#', &fault->from);
    if (good && key->needed)
        good = *at == ':' && number_of(at + 1, &at, key->least, key->most, &fault->value);
    if (!good || *at) {
        snprintf(reason->why, reason->size, "%s=%s: KERNEL[@BLOCKS][#K]%s", key->name, value,
                 key->room == FAULT_FAIL    ? ":CODE, a number of CUDA's errors"
                 : key->room == FAULT_LASTS ? ":SECONDS"
                                            : "");
        return false;
    }
    memcpy(fault->kernel, value, length);
    fault->kernel[length] = 0;
    return true;
}

/* How many letters have to be put in, taken out or changed to make `b` of `a`. */
static int distance(const char *a, const char *b)
{
    int row[33];
    const int width = int(strlen(b)) < 32 ? int(strlen(b)) : 32;
    for (int j = 0; j <= width; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= width; j++) {
            const int changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            const int other = 1 + (row[j - 1] < row[j] ? row[j - 1] : row[j]);
            row[j] = changed < other ? changed : other;
        }
    }
    return row[width];
}

static const struct key *key_of(const char *name, struct reason *reason)
{
    const struct key *nearest = nullptr;
    int least = 3;
    for (const struct key &key : keys) {
        const int away = distance(name, key.name);
        if (away == 0)
            return &key;
        if (away < least) {
            least = away;
            nearest = &key;
        }
    }
    if (nearest)
        snprintf(reason->why, reason->size, "\"%s\" is nothing that can be simulated; \"%s\" is", name, nearest->name);
    else
        snprintf(reason->why, reason->size, "\"%s\" is nothing that can be simulated (docs/timing.md)", name);
    return nullptr;
}

static bool parse_one(char *text, bool *given, struct specification *all, struct reason *reason)
{
    char *value = strchr(text, '=');
    if (!value) {
        snprintf(reason->why, reason->size, "\"%s\": it is key=value,key=value, as in seed=1,noise=0.01", text);
        return false;
    }
    *value++ = 0;
    const struct key *key = key_of(text, reason);
    if (!key)
        return false;
    char *to = reinterpret_cast<char *>(all) + key->offset;
    if (given[key - keys] && key->form != FAULT) {
        snprintf(reason->why, reason->size, "%s is given twice", key->name);
        return false;
    }
    given[key - keys] = true;
    switch (key->form) {
    case NUMBERS: return parse_numbers(key, value, reinterpret_cast<double *>(to), reason);
    case COUNT: return parse_count(key, value, reinterpret_cast<uint64_t *>(to), reason);
    case TEXT: return parse_text(key, value, to, reason);
    case FAULT: return parse_fault(key, value, all, reason);
    }
    return false;
}

static bool parse_all(char *text, struct specification *all, struct reason *reason)
{
    bool given[KEYS] = {};
    while (text) {
        char *next = strchr(text, ',');
        if (next)
            *next++ = 0;
        if (!parse_one(text, given, all, reason))
            return false;
        text = next;
    }
    if (all->throttle[2] < 1)
        snprintf(reason->why, reason->size, "throttle: the factor %g is below 1; kernels take so many times as long",
                 all->throttle[2]);
    else if (all->throttle[3] > 0 && all->throttle[3] < all->throttle[1])
        snprintf(reason->why, reason->size, "throttle: a length of %g s is longer than the period of %g s",
                 all->throttle[1], all->throttle[3]);
    else if (all->busy[0] > 1)
        snprintf(reason->why, reason->size, "busy: a probability of %g is above 1", all->busy[0]);
    else
        return true;
    return false;
}

bool specification_parse(const char *text, struct specification *specification, char *why, size_t size)
{
    struct reason reason = {why, size};
    char *copy = strdup(text);
    *specification = {};
    const bool good = copy && parse_all(copy, specification, &reason);
    free(copy);
    return good;
}

bool device_can_simulate(const char *simulate, char *why, size_t size)
{
    struct specification specification;
    return specification_parse(simulate, &specification, why, size);
}
