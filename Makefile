# SPDX-License-Identifier: MIT
# scanbench: the commands. `make help` lists them. Nothing about the machine is asked while this file is read.

DEVICE =
ARGS =
CCCL =
RUN ?=
MACHINE ?=
STAGE = all
COMMIT =

CC = cc
CXX = g++
NVCC = nvcc
WARN = -Wall -Wextra -Wno-missing-field-initializers -Wno-unknown-pragmas
SEMANTICS = -fno-strict-aliasing -fwrapv
CFLAGS = -O2 -g
CXXFLAGS = -O2 -g
NVCCFLAGS = -O3
ALL_CFLAGS = -std=gnu11 $(WARN) $(SEMANTICS) -fopenmp-simd -Isrc -Ibuild $(CFLAGS)
ALL_CXXFLAGS = -std=c++20 $(WARN) $(SEMANTICS) -Isrc $(CXXFLAGS)
ALL_NVCCFLAGS = -std=c++20 -Isrc $(if $(CCCL),-I"$(CCCL)/cub" -I"$(CCCL)/thrust" -I"$(CCCL)/libcudacxx/include") \
	-Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers,-fno-strict-aliasing,-fwrapv $(NVCCFLAGS)
LIBS = -pthread -lm -ldl $$(cat build/openmp)
# Of thrust_cpp and thrust_omp.
THRUST = $$(cat build/openmp) $$(scripts/thrust-headers "$(CCCL)")
# nvcc hands the option on to its host compiler.
OPENMP_OF_NVCC = $$(sed 's/^-/-Xcompiler &/' build/openmp)
# The count build: every memory access of a kernel becomes a call, and src/device/count answers it in place of the
# thread sanitizer's library. Accesses have to be those that the source writes: whatever merges, moves or drops them is
# off. build/reference does without any optimisation; a test holds the counts of the two against each other.
COUNT = -DSCANBENCH_COUNT
SEEN = -gdwarf-4 -fsanitize=thread --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1
AS_WRITTEN = -O1 $(addprefix -fno-,tree-fre tree-dce tree-dse tree-pre tree-sra tree-sink tree-dominator-opts \
	tree-phiprop tree-cselim ssa-phiopt tree-forwprop code-hoisting tree-ch tree-loop-im tree-loop-optimize ipa-pure-const \
	ipa-reference inline-functions-called-once)

.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL = build
MAKEFLAGS += --no-builtin-rules

# `make -j deps bench` must not start before deps ends, nor may bench share the machine with anything.
build bench count check test plots bill compare tables page handout lint readme registers tune gpu-check bench-cpu-device: | \
	$(filter deps deps-handout,$(MAKECMDGOALS))
ifneq ($(filter bench bench-cpu-device gpu-check tune,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

HOST = $(wildcard src/*.c src/verbs/*.c)
CPU_DEVICE = $(wildcard src/device/cpu/*.c src/device/cpu/*.cc)
KERNELS = $(wildcard kernels/*.c kernels/*.cu)
FAULTS = $(wildcard tests/faults/*.c tests/faults/*.cu)
# Written by scripts: a mutant for each line of tests/mutants.list, and the tile shapes that scripts/tune tries.
MUTANTS = $(patsubst %,build/mutants/kernels/%.cu,$(shell scripts/mutant))
MUTANTS_COUNTED = $(filter-out build/mutants/kernels/sp_%,$(MUTANTS)) # those whose memory order is looked at
TUNED = $(wildcard build/tune/kernels/*.cu kernels/single_pass.cu) kernels/copy.cu kernels/cub_scan.cu kernels/cub_scan_64.cu
# Builds use every core, unless a parallel make already hands out jobs.
IN_PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc))
objects = $(addprefix build/$(1)/,$(addsuffix .o,$(2)))

COUNT_DEVICE = $(CPU_DEVICE) $(wildcard src/device/count/*.cc)
COUNT_HOST_OBJECTS = $(call objects,count,$(HOST) $(COUNT_DEVICE))
CPU_HOST_OBJECTS = $(call objects,cpu,$(HOST) $(CPU_DEVICE))
# CCCL=DIR is built beside build/cuda, in build/cuda-NAME after the folder's name.
CUDA = cuda$(if $(CCCL),-$(lastword $(notdir $(patsubst %/,%,$(CCCL)))))
CUDA_OBJECTS = $(call objects,$(CUDA),$(HOST) $(wildcard src/device/*.cu) $(KERNELS)) build/$(CUDA)/registry.o

# ------------------------------------------------------------------------------------------------ commands

.PHONY: build deps deps-handout bench count plots bill compare tables page handout check test lint gpu-check bench-cpu-device readme registers tune clean help FORCE

build: ## build scanbench for the machine it stands on (DEVICE=cuda|cpu|count decides otherwise; CCCL=DIR: with that CUB)
	@d=$$(scripts/choose-device "$(DEVICE)" "$(CCCL)") && case $$d in cuda) d=$(CUDA) ;; esac && $(MAKE) $(IN_PARALLEL) --no-print-directory "build/$$d/scanbench" && ln -sf "build/$$d/scanbench" scanbench

deps: ## install what Debian packages (compiler, gnuplot, pandas, linters); names what it cannot install
	@scripts/install-deps

bench: build ## sweep all algorithms and draw the charts (ARGS="--quick" hands options on)
	@scripts/bench $(ARGS)

count: ## count every access of every kernel and draw the charts (ARGS="--table" prints a table instead)
	@$(MAKE) $(IN_PARALLEL) --no-print-directory build/count/scanbench
	@scripts/count $(ARGS)

plots: ## draw the charts from results/ alone (RUN=, MACHINE= choose; default: the newest; AGAINST= a second run; ALGORITHMS="A B" or all)
	@[ -x scanbench ] || [ -x build/cpu/scanbench ] || $(MAKE) $(IN_PARALLEL) --no-print-directory build/cpu/scanbench
	@RUN="$(RUN)" MACHINE="$(MACHINE)" AGAINST="$(AGAINST)" scripts/plot; status=$$?; [ $$status != 2 ] || exit 2; \
		[ -n "$(RUN)$(AGAINST)" ] || { MACHINE="$(MACHINE)" scripts/bill && scripts/published; } || status=1; \
		scripts/page || status=1; exit $$status

bill: ## what the time goes to: the cost model fitted to times of a GPU, or a PREDICTION; and against published times
	@$(MAKE) $(IN_PARALLEL) --no-print-directory build/cpu/scanbench
	@RUN="$(RUN)" MACHINE="$(MACHINE)" scripts/bill $(ARGS)
	@scripts/published

compare: ## machines or runs side by side: A=results/X B=results/Y (more: RUNS="..."; without: all machines); ends with 1 where B got slower
	@$(MAKE) $(IN_PARALLEL) --no-print-directory build/cpu/scanbench
	@scripts/compare $(if $(A),"$(A)") $(if $(B),"$(B)") $(RUNS) $(ARGS)

tables: ## every table as Markdown and LaTeX (booktabs), in plots/MACHINE/tables (RUN=, MACHINE= choose)
	@$(MAKE) $(IN_PARALLEL) --no-print-directory build/cpu/scanbench
	@RUN="$(RUN)" MACHINE="$(MACHINE)" scripts/tables $(ARGS)

page: ## plots/index.html: every machine, every run, their charts and files
	@$(MAKE) $(IN_PARALLEL) --no-print-directory build/cpu/scanbench
	@scripts/page $(ARGS)

handout: ## handout/scan.html and scan.pdf from handout/*.md and the CSVs (RUN=, MACHINE= choose the runs)
	@$(MAKE) $(IN_PARALLEL) --no-print-directory build/cpu/scanbench
	@RUN="$(RUN)" MACHINE="$(MACHINE)" scripts/handout $(ARGS)

deps-handout: deps ## what the handout needs besides: pandoc, a PDF engine, a browser for its test
	@scripts/install-deps handout

check: build ## verify every algorithm, kind, type and operator at every listed size
	@./scanbench check --op all --type all --kind all $(ARGS)

test: ## everything that needs no GPU; ends with "N passed, N failed, N skipped"
	@$(MAKE) $(IN_PARALLEL) --no-print-directory build/cpu/scanbench build/faults/scanbench build/count/scanbench \
		build/faults-count/scanbench build/mutants/scanbench build/mutants-count/scanbench build/mutants/unit_single_pass
	@tests/run $(ARGS)

lint: ## formatting and static checks
	@scripts/lint

gpu-check: ## on a machine with a GPU: STAGE=check|sweep|graph|targets|replays|tune|isolated|ncu|sanitize|all, COMMIT=hash
	@STAGE="$(STAGE)" COMMIT="$(COMMIT)" scripts/gpu-check

bench-cpu-device: ## how fast the CPU device is: ns per thread, barrier, shuffle, launch; each kernel at 2^20
	@$(MAKE) $(IN_PARALLEL) --no-print-directory build/cpu/cpu-device-bench build/count/cpu-device-bench
	@scripts/bench-cpu-device $(ARGS)

readme: ## rewrite the README's table of algorithms
	@$(MAKE) $(IN_PARALLEL) --no-print-directory build/cpu/scanbench
	@scripts/update-readme

registers: ## registers, shared memory and spills of every kernel, for each architecture, beside CUB's (needs nvcc; ARGS="NAME" for some)
	@$(MAKE) $(IN_PARALLEL) --no-print-directory build/cpu/scanbench
	@CCCL="$(CCCL)" scripts/registers $(ARGS)

tune: ## try the tile shapes of single_pass on this machine, and print the table that would be committed (ARGS="-t i32" hands options to bench)
	@DEVICE="$(DEVICE)" CCCL="$(CCCL)" COMMIT="$(COMMIT)" scripts/tune $(ARGS)

clean: ## remove what was built (results/ and plots/ stay)
	rm -rf build scanbench

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1	\2/p' Makefile | awk -F '\t' '{ printf "  make %-18s %s\n", $$1, $$2 }'

# ------------------------------------------------------------------------------------------------ building

# A list that changes only when its content does, so that a new kernel file or flag rebuilds what depends on it.
define when-changed
	@mkdir -p $(@D)
	@$(1) > $@.new && if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
endef

build/cpu/registry.c build/count/registry.c build/$(CUDA)/registry.c: FORCE
	$(call when-changed,scripts/registry $(KERNELS))
build/faults/registry.c build/faults-count/registry.c: FORCE
	$(call when-changed,scripts/registry $(FAULTS))
build/mutants/registry.c: FORCE $(MUTANTS)
	$(call when-changed,scripts/mutant >/dev/null && scripts/registry $(MUTANTS))
build/mutants-count/registry.c: FORCE $(MUTANTS_COUNTED)
	$(call when-changed,scripts/registry $(MUTANTS_COUNTED))
build/tune-cpu/registry.c build/tune-$(CUDA)/registry.c: FORCE
	$(call when-changed,scripts/registry $(TUNED))
# Made anew each time, and left alone where nothing changes: a mutant follows its list, its kernel and that one's parts.
build/mutants/kernels/%.cu: FORCE
	@scripts/mutant $* $@
# -fopenmp, or nothing where compilers have none. The count build is serial: its hooks are for one thread.
build/openmp: FORCE
	$(call when-changed,scripts/openmp-flag '$(CC)' '$(CXX)')
build/count/flags: FORCE | build/openmp
	$(call when-changed,echo '$(CC) $(ALL_CFLAGS) $(CXX) $(ALL_CXXFLAGS) $(COUNT) $(SEEN) $(AS_WRITTEN)')
build/cpu/flags: build/openmp FORCE
	$(call when-changed,{ echo '$(CC) $(ALL_CFLAGS) $(CXX) $(ALL_CXXFLAGS)'; cat build/openmp; scripts/kernel-flags $(CXX); scripts/thrust-headers; })
build/$(CUDA)/flags: build/openmp FORCE
	$(if $(CCCL),@scripts/check-cccl "$(CCCL)")
	$(call when-changed,{ echo '$(CC) $(ALL_CFLAGS) $(NVCC) $(ALL_NVCCFLAGS)'; cat build/openmp; scripts/cuda-architectures; })
build/version.h: FORCE
	$(call when-changed,scripts/version "$(COMMIT)")

build/cpu/%.c.o: %.c build/cpu/flags | build/version.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $$(cat build/openmp) -MMD -MP -c $< -o $@

build/cpu/%.cc.o: %.cc build/cpu/flags
	@mkdir -p $(@D)
	$(CXX) $(ALL_CXXFLAGS) -MMD -MP -c $< -o $@

build/cpu/%.cu.o: %.cu build/cpu/flags
	@mkdir -p $(@D)
	$(CXX) $(ALL_CXXFLAGS) $$(scripts/kernel-flags $(CXX)) $(if $(filter kernels/thrust_%,$<),$(THRUST)) -MMD -MP -x c++ -c $< -o $@

build/count/%.c.o: %.c build/count/flags | build/version.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(COUNT) $(if $(filter kernels/% tests/faults/%,$<),$(SEEN) $(AS_WRITTEN)) -MMD -MP -c $< -o $@

build/count/%.cc.o: %.cc build/count/flags
	@mkdir -p $(@D)
	$(CXX) $(ALL_CXXFLAGS) $(COUNT) -MMD -MP -c $< -o $@

build/count/%.cu.o: %.cu build/count/flags
	@mkdir -p $(@D)
	$(CXX) $(ALL_CXXFLAGS) $(COUNT) $(SEEN) $(AS_WRITTEN) -MMD -MP -x c++ -c $< -o $@

build/reference/%.cu.o: %.cu build/count/flags
	@mkdir -p $(@D)
	$(CXX) $(ALL_CXXFLAGS) $(COUNT) $(SEEN) -O0 -MMD -MP -x c++ -c $< -o $@

build/$(CUDA)/%.c.o: %.c build/$(CUDA)/flags | build/version.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $$(cat build/openmp) -MMD -MP -c $< -o $@

build/$(CUDA)/%.cu.o: %.cu build/$(CUDA)/flags
	@mkdir -p $(@D)
	$(NVCC) $(ALL_NVCCFLAGS) $$(scripts/cuda-architectures) -MMD -MP -c $< -o $@

# No kernels in there: the host's compiler does in seconds what nvcc does in a minute.
$(call objects,$(CUDA),kernels/thrust_cpp.cu kernels/thrust_omp.cu): build/$(CUDA)/%.cu.o: %.cu build/$(CUDA)/flags
	@mkdir -p $(@D)
	$(CXX) $(ALL_CXXFLAGS) $(THRUST) -MMD -MP -x c++ -c $< -o $@

build/%/registry.o: build/%/registry.c src/scan.h
	$(CC) $(ALL_CFLAGS) -c $< -o $@

build/cpu/scanbench: $(CPU_HOST_OBJECTS) $(call objects,cpu,$(KERNELS)) build/cpu/registry.o
	$(CXX) $^ $(LIBS) -o $@

build/faults/scanbench: $(CPU_HOST_OBJECTS) $(call objects,cpu,$(FAULTS)) build/faults/registry.o
	$(CXX) $^ $(LIBS) -o $@

build/count/scanbench: $(COUNT_HOST_OBJECTS) $(call objects,count,$(KERNELS)) build/count/registry.o
	$(CXX) $^ $(LIBS) -o $@

build/faults-count/scanbench: $(COUNT_HOST_OBJECTS) $(call objects,count,$(FAULTS)) build/faults-count/registry.o
	$(CXX) $^ $(LIBS) -o $@

build/cpu/build/mutants/% build/count/build/mutants/%: ALL_CXXFLAGS += -DSCANBENCH_MUTANT -O1 -g0

build/mutants/scanbench: $(CPU_HOST_OBJECTS) $(call objects,cpu,$(MUTANTS)) build/mutants/registry.o
	$(CXX) $^ $(LIBS) -o $@

build/mutants-count/scanbench: $(COUNT_HOST_OBJECTS) $(call objects,count,$(MUTANTS_COUNTED)) build/mutants-count/registry.o
	$(CXX) $^ $(LIBS) -o $@

# What is kept from run to run, tried on mutants.
build/mutants/unit_single_pass: build/cpu/tests/unit_single_pass.cu.o $(filter-out build/cpu/src/main.c.o,$(CPU_HOST_OBJECTS)) \
		$(call objects,cpu,$(MUTANTS)) build/mutants/registry.o
	$(CXX) $^ $(LIBS) -o $@

build/tune-cpu/scanbench: $(CPU_HOST_OBJECTS) $(call objects,cpu,$(TUNED)) build/tune-cpu/registry.o
	$(CXX) $^ $(LIBS) -o $@

build/tune-$(CUDA)/scanbench: $(call objects,$(CUDA),$(HOST) $(wildcard src/device/*.cu) $(TUNED)) build/tune-$(CUDA)/registry.o
	$(NVCC) $$(scripts/cuda-architectures) $^ -lpthread -lm -ldl $(OPENMP_OF_NVCC) -o $@

build/$(CUDA)/scanbench: $(CUDA_OBJECTS)
	$(NVCC) $$(scripts/cuda-architectures) $^ -lpthread -lm -ldl $(OPENMP_OF_NVCC) -o $@

# A second opinion on the timer, without anything of src/.
build/$(CUDA)/cub-isolated: tests/cub_isolated.cu build/$(CUDA)/flags
	$(NVCC) $(ALL_NVCCFLAGS) $$(scripts/cuda-architectures) $< -o $@

# The CPU device's own benchmark links everything but the command line.
build/cpu/cpu-device-bench: build/tests/cpu_device_bench
	cp $< $@
build/count/cpu-device-bench: build/tests-count/cpu_device_bench
	cp $< $@

# A test program is one file against everything but the command line.
BUT_MAIN = $(filter-out build/cpu/src/main.c.o,$(CPU_HOST_OBJECTS)) $(call objects,cpu,$(KERNELS)) build/cpu/registry.o
build/tests/%: build/cpu/tests/%.c.o $(BUT_MAIN)
	@mkdir -p $(@D)
	$(CXX) $^ $(LIBS) -o $@
build/tests/%: build/cpu/tests/%.cu.o $(BUT_MAIN)
	@mkdir -p $(@D)
	$(CXX) $^ $(LIBS) -o $@

# Kernels at -O0, everything else as in the count build.
build/reference/scanbench: $(COUNT_HOST_OBJECTS) $(patsubst build/count/%.cu.o,build/reference/%.cu.o,$(call objects,count,$(KERNELS))) \
	build/count/registry.o
	$(CXX) $^ $(LIBS) -o $@

# The same against the count build: build/tests-count/NAME.
COUNT_BUT_MAIN = $(filter-out build/count/src/main.c.o,$(COUNT_HOST_OBJECTS)) $(call objects,count,$(KERNELS)) \
	build/count/registry.o
build/tests-count/%: build/count/tests/%.c.o $(COUNT_BUT_MAIN)
	@mkdir -p $(@D)
	$(CXX) $^ $(LIBS) -o $@
build/tests-count/%: build/count/tests/%.cu.o $(COUNT_BUT_MAIN)
	@mkdir -p $(@D)
	$(CXX) $^ $(LIBS) -o $@

build/reference/count_kernels: build/reference/tests/count_kernels.cu.o $(COUNT_BUT_MAIN)
	$(CXX) $^ $(LIBS) -o $@

.SECONDARY:
FORCE:

-include $(wildcard build/*/*/*.d build/*/*/*/*.d build/*/*/*/*/*.d)
