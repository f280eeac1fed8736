/* SPDX-License-Identifier: MIT */
/*
 * What one run of an algorithm does to the cells of its arrays, launch by launch and barrier by barrier. The count
 * build only.
 *
 * Elements are i32 numbers of expressions (the operator TRACE). Between two launches, and while a block stands at a
 * barrier, every cell that holds an expression is given a new number of its own, so that whatever a cell holds later
 * says which cell it was read from.
 */
#ifndef TRACE_H
#define TRACE_H

#include "device/counts.h"

enum {
    TRACE_ADDITION = -1,
    TRACE_LEAF = -2,
    TRACE_IDENTITY = -3,
};
#define TRACE_NOTHING UINT32_MAX /* what a cell holds that holds no expression: nothing was written, or no element */

struct trace_expression {
    int array;            /* what cell `cell` of this array held when it was given this number; or a TRACE_... */
    uint32_t cell;        /* of a leaf: its place in the input */
    uint32_t left, right; /* operands of an addition; of a cell, `left` is what it held */
};

struct trace_array {
    char name[64]; /* "in", "out", "workspace", or parts of that: "A", "B"; a shared array's own name */
    bool shared;
    uint64_t block; /* of a shared array */
    uint64_t cells; /* from cell 0 on */
    uint64_t first; /* where cell 0 lies in the workspace */
};

/* One array after a launch or at a barrier, if it has changed since the last one. */
struct trace_event {
    char kernel[64];
    int launch;               /* from 1 */
    int barrier;              /* from 1; 0: the end of the launch */
    uint64_t block;           /* of a barrier */
    int array;                /* -1: no cell of any array has changed */
    uint32_t *before, *after; /* expressions, one a cell; a cell has changed where they differ */
    uint32_t named;           /* cells whose numbers are below had them before this event */
};

struct trace_meaning {
    int32_t value;
    uint32_t first, count; /* the elements added up; count TRACE_NOTHING: no neighbours, or no expression */
    bool known;
};

struct trace {
    uint64_t n;
    const int32_t *values;      /* the caller's */
    struct trace_array *arrays; /* 0 is the input, 1 the output */
    int array_count;
    struct trace_event *events; /* by launch, block and barrier, the end of the launch last */
    int event_count, launches;
    uint32_t *output; /* n expressions */
    struct trace_expression *expressions;
    struct trace_meaning *meanings;
    uint32_t expression_count, first_addition; /* additions follow each other in the order in which they were made */
};

/* Runs the algorithm once on n = problem->n values (the problem's pointers are not looked at). The device is open,
 * unless this is a host algorithm, which has no events. False and a reason in `why`: no memory, an error of the device,
 * or elements that the algorithm does more with than to add them. */
bool trace_make(struct trace *trace, const struct algorithm *algorithm, const struct problem *problem,
                const int32_t *values, char *why, size_t size);
void trace_free(struct trace *trace);

/* What the expression comes to as a sum, wrapping. */
int32_t trace_value(const struct trace *trace, uint32_t expression);

/* The elements of the input that it adds up, which are neighbours in ascending order: their number, the first one in
 * *first. 0 for the identity; UNKNOWN if they are not, or it is no expression. */
uint64_t trace_span(const struct trace *trace, uint32_t expression, uint64_t *first);

/* Has the cell that this expression stands for changed once more before the event? Then a thread has kept its value. */
bool trace_is_past(const struct trace *trace, const struct trace_event *event, uint32_t expression);

/* Does the output hold the scan (or, kind COPY, the copy) of the input, every sum in the order of its elements? */
bool trace_is_right(const struct trace *trace, enum kind kind, uint64_t *first_wrong);

#endif
