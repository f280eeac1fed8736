/* SPDX-License-Identifier: MIT */
/* What the CPU device tells the count build (src/device/count) about itself. In the run build it tells nobody. */
#ifndef OBSERVE_H
#define OBSERVE_H

#include "device/cpu/block.h"

#ifdef SCANBENCH_COUNT
#define OBSERVE(declaration) declaration;
constexpr bool OBSERVED = true;
#else
#define OBSERVE(declaration)                                                                                           \
    [[maybe_unused]] static inline declaration {}
constexpr bool OBSERVED = false;
#endif

/* Memory: one range of addresses, device memory first, the shared memory of blocks behind it. */
OBSERVE(void observe_memory([[maybe_unused]] char *memory, [[maybe_unused]] uint64_t device_bytes,
                            [[maybe_unused]] uint64_t all_bytes))
OBSERVE(void observe_memory_closed(void))
OBSERVE(void observe_array([[maybe_unused]] char *data, [[maybe_unused]] uint64_t bytes, [[maybe_unused]] bool there))
OBSERVE(void observe_host_write([[maybe_unused]] void *to, [[maybe_unused]] size_t bytes))

/* Launches. */
OBSERVE(void observe_launch([[maybe_unused]] const char *kernel, [[maybe_unused]] uint64_t blocks,
                            [[maybe_unused]] uint64_t threads))
OBSERVE(void observe_launched(void))
OBSERVE(void observe_memcpy([[maybe_unused]] void *to, [[maybe_unused]] const void *from,
                            [[maybe_unused]] size_t bytes))
OBSERVE(void observe_memset([[maybe_unused]] void *to, [[maybe_unused]] size_t bytes))
OBSERVE(void observe_abandoned([[maybe_unused]] struct block *block)) /* its threads never go on */

/* Blocks: made and destroyed; a block of the grid begins and ends in one. */
OBSERVE(void observe_block_made([[maybe_unused]] struct block *block))
OBSERVE(void observe_block_destroyed([[maybe_unused]] struct block *block))
OBSERVE(void observe_block_begins([[maybe_unused]] struct block *block, [[maybe_unused]] uint64_t index))
OBSERVE(void observe_block_ends([[maybe_unused]] struct block *block))
OBSERVE(void observe_shared_array([[maybe_unused]] const char *name, [[maybe_unused]] size_t element,
                                  [[maybe_unused]] size_t count, [[maybe_unused]] uint32_t offset))

/* Threads under the general scheduler. */
OBSERVE(void observe_barrier([[maybe_unused]] struct block *block)) /* all have come, nobody goes on yet */
OBSERVE(void observe_grid(void)) /* all blocks have come to the grid's barrier, nobody goes on yet */
OBSERVE(void observe_meeting([[maybe_unused]] struct block *block, [[maybe_unused]] unsigned first,
                             [[maybe_unused]] uint32_t lanes))
OBSERVE(void observe_copied([[maybe_unused]] void *to, [[maybe_unused]] size_t bytes)) /* an asynchronous copy */
OBSERVE(void observe_deadlock([[maybe_unused]] struct block *block))

#undef OBSERVE
#endif
