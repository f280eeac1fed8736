/* SPDX-License-Identifier: MIT */
/*
 * What happens before what where neither a barrier nor a launch says so: by atomic accesses, as the memory model of
 * C++ and CUDA has it.
 *
 *     release      a store or read-modify-write of order release or stronger; or a weaker one with a fence before it
 *     acquire      a load or read-modify-write of order acquire or stronger; or a weaker one with a fence behind it
 *
 * An acquire that reads what a release has written, or what read-modify-writes have made of it, comes after all that
 * the releasing thread has done before or knew to be past. Nothing else orders: no weaker access, no other address, no
 * fence of another thread. volatile accesses and atomicAdd() and its kin are relaxed.
 *
 * What a thread knows to be past is a clock: for every thread of the grid a stamp, before which all that it did is
 * past. Clocks never change, and share what they have in common: a clock is a tree over the blocks of the grid, a
 * release copies one path of it, and two are joined by going only where they differ. So n blocks of which each passes
 * on what it has heard cost n log n, not n^2. A leaf is a block: one stamp for all of its threads, mostly that of a
 * barrier, and later ones of single threads and warps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/count/seen.h"

/* ---------------------------------------------------------------------------------------------- clocks */

constexpr unsigned FAN = 16, FAN_BITS = 4;

struct clock {
    uint32_t users;
};

struct fork : clock {
    struct clock *child[FAN]; /* NULL: nothing is known of these blocks */
};

/* Of a thread of the block, or, as MAX_THREADS + w, of all of its warp w. */
struct stamped {
    uint32_t unit, stamp;
};
constexpr unsigned UNITS = MAX_THREADS + MAX_THREADS / WARP;

struct leaf : clock {
    uint32_t all;   /* stamp of all threads */
    uint32_t count; /* of units with a later one, which follow in ascending order */
    struct stamped *more() { return reinterpret_cast<struct stamped *>(this + 1); }
    const struct stamped *more() const { return reinterpret_cast<const struct stamped *>(this + 1); }
};

/* Nodes that were looked at in this launch; and how many bytes they have now. Beyond its limits no clocks are kept
 * until the launch ends: from there on nothing that two blocks do to each other is a race, and the counter says so. */
static uint64_t effort, bytes;
uint64_t order_most_effort = UINT64_C(1) << 28;
constexpr uint64_t MOST_BYTES = UINT64_C(512) << 20;
static bool given_up;
static uint64_t launches_given_up;

static int root_level; /* of this launch; leaves are on level 0 */

static size_t leaf_bytes(uint32_t count)
{
    return sizeof(struct leaf) + count * sizeof(struct stamped);
}

static void *make(size_t size)
{
    struct clock *x = static_cast<struct clock *>(malloc(size));
    if (!x)
        abort();
    x->users = 1;
    bytes += size;
    return x;
}

static struct clock *make_leaf(uint32_t all, const struct stamped *more, uint32_t count)
{
    struct leaf *x = static_cast<struct leaf *>(make(leaf_bytes(count)));
    x->all = all;
    x->count = count;
    memcpy(x->more(), more, count * sizeof *more);
    return x;
}

static struct clock *make_fork(struct clock *const *child)
{
    struct fork *x = static_cast<struct fork *>(make(sizeof *x));
    memcpy(x->child, child, sizeof x->child);
    return x;
}

static struct clock *keep(struct clock *x)
{
    if (x)
        x->users++;
    return x;
}

static void drop(struct clock *x, int level)
{
    if (!x || --x->users)
        return;
    bytes -= level ? sizeof(struct fork) : leaf_bytes(static_cast<struct leaf *>(x)->count);
    for (unsigned k = 0; level && k < FAN; k++)
        drop(static_cast<struct fork *>(x)->child[k], level - 1);
    free(x);
}

static void replace(struct clock **old, struct clock *by)
{
    struct clock *was = *old;
    *old = by;
    drop(was, root_level);
}

static bool says(const struct leaf *x, uint32_t all, const struct stamped *more, uint32_t count)
{
    return x->all == all && x->count == count && !memcmp(x->more(), more, count * sizeof *more);
}

static struct clock *join_leaves(struct leaf *a, struct leaf *b)
{
    struct stamped more[2 * UNITS];
    const uint32_t all = a->all > b->all ? a->all : b->all;
    uint32_t count = 0;
    const struct stamped *x = a->more(), *y = b->more(), *x_end = x + a->count, *y_end = y + b->count;
    while (x < x_end || y < y_end) {
        struct stamped next;
        if (y == y_end || (x < x_end && x->unit < y->unit))
            next = *x++;
        else if (x == x_end || y->unit < x->unit)
            next = *y++;
        else
            next = {x->unit, x->stamp > y->stamp ? x->stamp : y->stamp}, x++, y++;
        if (next.stamp > all)
            more[count++] = next;
    }
    effort += (a->count + b->count) / FAN;
    if (says(a, all, more, count))
        return keep(a);
    if (says(b, all, more, count))
        return keep(b);
    return make_leaf(all, more, count);
}

/* What either knows. */
static struct clock *join(struct clock *a, struct clock *b, int level)
{
    if (!b || a == b)
        return keep(a);
    if (!a)
        return keep(b);
    effort++;
    if (!level)
        return join_leaves(static_cast<struct leaf *>(a), static_cast<struct leaf *>(b));
    struct clock *const *from_a = static_cast<struct fork *>(a)->child;
    struct clock *const *from_b = static_cast<struct fork *>(b)->child;
    struct clock *both[FAN];
    bool is_a = true, is_b = true;
    for (unsigned k = 0; k < FAN; k++) {
        both[k] = join(from_a[k], from_b[k], level - 1);
        is_a = is_a && both[k] == from_a[k];
        is_b = is_b && both[k] == from_b[k];
    }
    if (!is_a && !is_b)
        return make_fork(both);
    for (unsigned k = 0; k < FAN; k++)
        drop(both[k], level - 1);
    return keep(is_a ? a : b);
}

static void learn(struct clock **clock, struct clock *more)
{
    if (more && more != *clock)
        replace(clock, join(*clock, more, root_level));
}

/* A copy of `x` that knows the leaf besides. */
static struct clock *with_leaf(struct clock *x, uint64_t block, struct leaf *leaf, int level)
{
    effort++;
    if (!level)
        return x ? join_leaves(static_cast<struct leaf *>(x), leaf) : keep(leaf);
    struct clock *child[FAN] = {};
    const unsigned at = unsigned(block >> FAN_BITS * (level - 1)) % FAN;
    for (unsigned k = 0; x && k < FAN; k++)
        child[k] = k == at ? static_cast<struct fork *>(x)->child[k] : keep(static_cast<struct fork *>(x)->child[k]);
    child[at] = with_leaf(child[at], block, leaf, level - 1);
    return make_fork(child);
}

/* By this clock, is past what the thread did at `stamp`? */
static bool is_past(const struct clock *x, uint64_t block, uint32_t thread, uint32_t stamp)
{
    for (int level = root_level; x && level; level--)
        x = static_cast<const struct fork *>(x)->child[(block >> FAN_BITS * (level - 1)) % FAN];
    const struct leaf *leaf = static_cast<const struct leaf *>(x);
    if (!leaf || leaf->all > stamp)
        return leaf;
    const struct stamped *more = leaf->more();
    for (uint32_t i = 0; i < leaf->count; i++)
        if ((more[i].unit == thread || more[i].unit == MAX_THREADS + thread / WARP) && more[i].stamp > stamp)
            return true;
    return false;
}

/* The same of any of the threads whose numbers look like this one. */
static bool is_past(const struct clock *x, uint32_t thread, uint32_t stamp)
{
    for (uint64_t t = thread; x && t < uint64_t(launch_blocks) * launch_threads; t += THREADS)
        if (is_past(x, t / launch_threads, uint32_t(t % launch_threads), stamp))
            return true;
    return false;
}

/* ---------------------------------------------------------------------------------------------- threads */

enum reach { ANYWHERE, IN_BLOCK, REACHES }; /* of a fence, and of a word: a block's shared memory is for itself */

/* What one thread of a block knows, and what a fence has to do with it. */
struct knowledge {
    struct clock *own;             /* NULL: what all threads of its block know */
    struct clock *heard[REACHES];  /* by relaxed loads: a fence makes it known */
    struct clock *fenced[REACHES]; /* what it knew at its last fence: its relaxed stores tell that */
    bool listed;
};

/* A word that a thread of the block has read, and another one has written: for reports. */
struct reading {
    uint64_t word;
    uint32_t thread, writer; /* in the block; in the grid */
    uint32_t wrote;          /* stamp; 0: none */
    uintptr_t store, load;   /* sites */
    struct clock *told;
    bool acquired;
};
constexpr unsigned READINGS = 64; /* that a block remembers, by word: later ones take the place of earlier ones */

struct order {
    struct clock *common; /* what all knew at the last barrier */
    unsigned count;       /* threads that have known more since the block began */
    uint16_t list[MAX_THREADS];
    struct knowledge of[MAX_THREADS];
    bool has_read;
    struct reading readings[READINGS];
};

struct order *order_make(void)
{
    struct order *o = static_cast<struct order *>(calloc(1, sizeof *o));
    if (!o)
        abort();
    return o;
}

void order_forget(struct order *o)
{
    for (unsigned i = 0; i < o->count; i++) {
        struct knowledge *k = &o->of[o->list[i]];
        drop(k->own, root_level);
        for (unsigned reach = 0; reach < REACHES; reach++) {
            drop(k->heard[reach], root_level);
            drop(k->fenced[reach], root_level);
        }
        *k = {};
    }
    for (unsigned i = 0; o->has_read && i < READINGS; i++) {
        drop(o->readings[i].told, root_level);
        o->readings[i] = {};
    }
    replace(&o->common, nullptr);
    o->count = 0;
    o->has_read = false;
}

static struct knowledge *knowledge_of(struct order *o, unsigned thread)
{
    struct knowledge *k = &o->of[thread];
    if (!k->listed) {
        k->listed = true;
        o->list[o->count++] = uint16_t(thread);
    }
    return k;
}

static struct clock *known(const struct order *o, unsigned thread)
{
    return o->of[thread].own ? o->of[thread].own : o->common;
}

static void learns(struct order *o, unsigned thread, struct clock *more)
{
    if (!more || more == known(o, thread))
        return;
    struct knowledge *k = knowledge_of(o, thread);
    if (!k->own)
        k->own = keep(o->common);
    learn(&k->own, more);
}

/* What is past for the thread now, all that it has done itself before this stamp included. */
static struct clock *all_past(const struct counting *c, unsigned thread)
{
    struct stamped more[WARP + 1];
    const unsigned warp = thread / WARP;
    uint32_t count = 0;
    for (unsigned i = warp * WARP; i < (warp + 1) * WARP && i < launch_threads; i++) {
        const uint32_t stamp = i == thread ? stamp_now : c->past_used ? c->past[thread][i % WARP] : 0;
        if (stamp > c->interval)
            more[count++] = {i, stamp};
    }
    if (c->warp_sync[warp] > c->interval)
        more[count++] = {MAX_THREADS + warp, c->warp_sync[warp]};
    struct leaf *leaf = static_cast<struct leaf *>(make_leaf(c->interval, more, count));
    struct clock *clock = with_leaf(known(c->order, thread), c->index, leaf, root_level);
    drop(leaf, 0);
    return clock;
}

void order_barrier(struct counting *c)
{
    struct order *o = c->order;
    for (unsigned i = 0; i < o->count; i++) {
        struct knowledge *k = &o->of[o->list[i]];
        learn(&o->common, k->own);
        replace(&k->own, nullptr);
    }
}

void order_meet(struct counting *c, unsigned warp, uint32_t lanes)
{
    struct order *o = c->order;
    struct clock *together = nullptr;
    if (!o->count)
        return;
    for (uint32_t left = lanes; left; left &= left - 1)
        learn(&together, o->of[warp * WARP + unsigned(__builtin_ctz(left))].own);
    for (uint32_t left = lanes; left && together; left &= left - 1)
        learns(o, warp * WARP + unsigned(__builtin_ctz(left)), together);
    drop(together, root_level);
}

bool order_knows(const struct counting *c, unsigned thread, uint32_t other, uint32_t stamp)
{
    return given_up || is_past(known(c->order, thread), other, stamp);
}

/* ---------------------------------------------------------------------------------------------- flags */

/* A word that has been written atomically in this launch, and what its value tells. */
struct flag {
    uint64_t word;
    uint32_t writer, wrote; /* thread in the grid; stamp */
    uintptr_t store;        /* site */
    struct clock *told;     /* NULL: nothing */
};
static struct flag *flags;
static uint32_t flag_count, flag_room;
static uint32_t *flag_of; /* by word; of this launch if that flag is the word's */

/* Of each block, the latest store that told nothing. */
struct silence {
    uint64_t word;
    uint32_t wrote;
    uintptr_t store;
};
static struct silence *silences;
static uint32_t silence_room;

static struct flag *find_flag(uint64_t word)
{
    const uint32_t i = flag_of[word];
    return i < flag_count && flags[i].word == word ? &flags[i] : nullptr;
}

static struct flag *make_flag(uint64_t word)
{
    if (flag_count == flag_room) {
        flag_room = flag_room ? 2 * flag_room : 1024;
        flags = static_cast<struct flag *>(realloc(flags, flag_room * sizeof *flags));
        if (!flags)
            abort();
    }
    flag_of[word] = flag_count;
    flags[flag_count] = {word, 0, 0, 0, nullptr};
    return &flags[flag_count++];
}

void order_open(uint32_t *by_word)
{
    flag_of = by_word;
}

void order_launch(void)
{
    for (uint32_t i = 0; i < flag_count; i++)
        drop(flags[i].told, root_level);
    flag_count = 0;
    root_level = 0;
    while (root_level < 8 && UINT64_C(1) << FAN_BITS * root_level < launch_blocks)
        root_level++;
    free(silences);
    silences = nullptr;
    effort = 0;
    given_up = false;
}

uint64_t order_given_up(void)
{
    return launches_given_up;
}

void order_begin(void)
{
    launches_given_up = 0;
}

static bool acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool goes_on(void)
{
    if (!given_up && (effort > order_most_effort || bytes > MOST_BYTES)) {
        given_up = true;
        launches_given_up++;
    }
    return !given_up;
}

static void remember(struct order *o, unsigned thread, const struct flag *flag, bool acquired, uintptr_t site)
{
    struct reading *r = &o->readings[flag->word % READINGS];
    replace(&r->told, keep(flag->told));
    *r = {flag->word, thread, flag->writer, flag->wrote, flag->store, site, r->told, acquired};
    o->has_read = true;
}

static void stay_silent(uint32_t block, uint64_t word, uintptr_t site)
{
    if (!silences) {
        silence_room = launch_blocks;
        silences = static_cast<struct silence *>(calloc(silence_room, sizeof *silences));
    }
    if (silences && block < silence_room)
        silences[block] = {word, stamp_now, site};
}

void order_atomic(struct counting *c, unsigned thread, const struct atomic_access *a)
{
    struct order *o = c->order;
    const uint64_t offset = a->address - memory_base;
    const enum reach reach = offset < memory_device_bytes ? ANYWHERE : IN_BLOCK;
    struct clock *tells = nullptr;
    stamp_now++;
    if (!goes_on() || offset + a->bytes > memory_all_bytes)
        return;
    if (a->writes && releases(a->order))
        tells = all_past(c, thread);
    else if (a->writes)
        tells = keep(o->of[thread].fenced[reach]);
    for (uint64_t word = offset / 4; word <= (offset + a->bytes - 1) / 4; word++) {
        struct flag *flag = find_flag(word);
        if (flag && reach == IN_BLOCK && flag->wrote < c->begun) /* of another block that was here before */
            replace(&flag->told, nullptr);
        else if (flag && a->reads && flag->writer != c->first_thread + thread) {
            if (acquires(a->order))
                learns(o, thread, flag->told);
            else if (flag->told)
                learn(&knowledge_of(o, thread)->heard[reach], flag->told);
            remember(o, thread, flag, acquires(a->order), a->site);
        }
        if (!a->writes)
            continue;
        if (!flag)
            flag = make_flag(word);
        if (a->reads || a->bytes < 4) /* what was told before is told on; of bytes that share a word, each on its own */
            learn(&flag->told, tells);
        else
            replace(&flag->told, keep(tells));
        if (!tells)
            stay_silent(uint32_t(c->index), word, a->site);
        flag->writer = c->first_thread + thread;
        flag->wrote = stamp_now;
        flag->store = a->site;
    }
    drop(tells, root_level);
}

void order_fence(struct counting *c, unsigned thread, int order, bool in_block)
{
    struct order *o = c->order;
    stamp_now++;
    if (!goes_on())
        return;
    struct knowledge *k = knowledge_of(o, thread);
    for (unsigned reach = in_block ? IN_BLOCK : ANYWHERE; acquires(order) && reach < REACHES; reach++) {
        learns(o, thread, k->heard[reach]);
        replace(&k->heard[reach], nullptr);
    }
    for (unsigned i = 0; acquires(order) && o->has_read && i < READINGS; i++)
        if (o->readings[i].thread == thread && (!in_block || o->readings[i].word >= memory_device_bytes / 4))
            o->readings[i].acquired = true;
    if (!releases(order))
        return;
    struct clock *past = all_past(c, thread);
    for (unsigned reach = in_block ? IN_BLOCK : ANYWHERE; reach < REACHES; reach++)
        replace(&k->fenced[reach], keep(past));
    drop(past, root_level);
}

/* ---------------------------------------------------------------------------------------------- what is missing */

static bool same_block(uint32_t a, uint32_t b)
{
    return a / launch_threads == b / launch_threads;
}

/* A flag that the block has read and that would order, if both sides did what it takes. */
const char *order_missing(const struct counting *c, uint32_t other, uint32_t stamp)
{
    static char text[240];
    const struct order *o = c->order;
    const struct reading *best = nullptr;
    uintptr_t store = 0;
    for (unsigned i = 0; o->has_read && i < READINGS; i++) {
        const struct reading *r = &o->readings[i];
        if (!r->wrote)
            continue;
        if (!r->acquired && is_past(r->told, other, stamp)) {
            snprintf(text, sizeof text, ": the flag at %s was read without acquire", place_text(r->load));
            return text;
        }
        const uint32_t block = other / launch_threads;
        if (same_block(r->writer, other) && r->wrote > stamp && r->wrote > (best ? best->wrote : 0)) {
            best = r;
            store = r->told ? 0 : r->store;
        } else if (!best && silences && block < silence_room && silences[block].word == r->word &&
                   silences[block].wrote > stamp) {
            best = r;
            store = silences[block].store;
        }
    }
    if (!best)
        return "";
    if (!store)
        snprintf(text, sizeof text, ": the flag at %s does not release that", place_text(best->store));
    else if (best->acquired)
        snprintf(text, sizeof text, ": the flag at %s was written without release", place_text(store));
    else
        snprintf(text, sizeof text, ": the flag at %s was written without release, and at %s read without acquire",
                 place_text(store), place_text(best->load));
    return text;
}
