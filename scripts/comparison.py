# SPDX-License-Identifier: MIT
"""Runs side by side: which algorithm got faster or slower where, and what else differs between the runs.

A point is an algorithm at one n of one series (device, kind, type, operator, launch, cache). Two points are compared by
their intervals: the confidence interval of the median, or least to greatest sample where a run has too few samples for
one. Kernels of a GPU, of the CPU device and of a simulated clock are different devices, and never compared.
"""

from collections import namedtuple

from runs import RESULTS, BadInput, choose, power, timed
from tabulate import Table, duration, number

import os

Series = namedtuple("Series", "device kind type op launch cache")
Change = namedtuple("Change", "algorithm n a b ratio low high verdict")

FACTS = [("GPU", "gpu_name", 1), ("compute capability", "compute_capability", 1), ("SMs (CPU device: workers)", "sm_count", 1),
         ("SM clock, most, MHz", "sm_clock_max_mhz", 1), ("SM clock, busy, MHz", "sm_clock_busy_mhz", 1),
         ("clocks locked", "clocks_locked", 1), ("memory clock, MHz", "mem_clock_max_mhz", 1), ("bus, bits", "mem_bus_bits", 1),
         ("peak, GB/s", "peak_gb_per_s", 1), ("copy, GB/s", "copy_gb_per_s", 1), ("L2, MiB", "l2_bytes", 2**20),
         ("memory, GiB", "global_mem_bytes", 2**30), ("ECC", "ecc", 1), ("power limit, W", "power_limit_w", 1),
         ("temperature at start, C", "temp_start_c", 1), ("at end, C", "temp_end_c", 1), ("driver", "driver", 1),
         ("CUDA runtime", "runtime", 1), ("nvcc", "nvcc", 1), ("CUB", "cub", 1), ("simulated clock", "simulated", 1),
         ("host CPU", "host_cpu", 1), ("host cores", "host_cores", 1), ("OS", "os", 1), ("compiler", "compiler", 1),
         ("scanbench", "version", 1), ("commit", "commit", 1), ("date, UTC", "date_utc", 1), ("options", "argv", 1)]
MUST_AGREE = [("driver", "driver"), ("CUDA runtime", "runtime"), ("nvcc", "nvcc"), ("CUB", "cub"), ("clocks locked", "clocks_locked"),
              ("ECC", "ecc"), ("power limit", "power_limit_w"), ("compiler", "compiler"), ("scanbench commit", "commit")]


def resolve(text):
    """The folder of a run: that folder, or the newest run of times of a machine, by folder or name."""
    text = text.rstrip("/")
    if os.path.isdir(text) and any(os.path.exists(os.path.join(text, f)) for f in ("machine.csv", "results.csv", "results.csv.part")):
        return text
    machine = os.path.basename(text)
    root = os.path.dirname(text)
    newest = choose(machine=machine) if root in ("", RESULTS) else []
    if not newest and os.path.isdir(text):
        newest = sorted((os.path.join(text, name) for name in os.listdir(text)
                         if os.path.exists(os.path.join(text, name, "results.csv"))), key=os.path.basename)[-1:]
    if not newest:
        there = sorted({os.path.basename(os.path.dirname(f)) for f in choose()})
        raise BadInput(f"{text}: neither a run with results.csv nor a machine with one below {RESULTS}/"
                       + (f", which has {', '.join(there)}" if there else "; `make bench` makes one"))
    return newest[0]


def labels(runs):
    """A short name for each run, no two alike: its machine; its run where machines repeat."""
    machines = [run.machine for run in runs]
    return [run.machine if machines.count(run.machine) == 1 else f"{run.machine} {run.name}" if len(set(machines)) > 1 else run.name
            for run in runs]


def series_of(run, row):
    device = row["device"]
    return Series("simulated" if device != "host" and run.simulated else device, row["kind"], row["type"], row["op"],
                  row["launch"] or "", row["cache"] or "")


def points(run):
    """{series: {algorithm: {n: row}}}, of several block sizes the fastest."""
    found = {}
    for row in timed(run.rows):
        at = found.setdefault(series_of(run, row), {}).setdefault(row["algorithm"], {})
        if row["n"] not in at or row["device_median_s"] < at[row["n"]]["device_median_s"]:
            at[row["n"]] = row
    return found


def interval(row):
    """Seconds, low and high; None where the run is too short for one."""
    for low, high in (("device_ci_lo_s", "device_ci_hi_s"), ("device_min_s", "device_max_s")):
        if row.get(low) and row.get(high) and (row["samples"] or 0) >= 2:
            return row[low], row[high]
    return None


def change(algorithm, n, a, b):
    """What became of row a in row b: the ratio of the medians b / a, its bounds, and faster, slower, same or undecided."""
    ratio = b["device_median_s"] / a["device_median_s"]
    of_a, of_b = interval(a), interval(b)
    if not of_a or not of_b:
        return Change(algorithm, n, a, b, ratio, None, None, "undecided")
    low, high = of_b[0] / of_a[1], of_b[1] / of_a[0]
    return Change(algorithm, n, a, b, ratio, low, high, "faster" if high < 1 else "slower" if low > 1 else "same")


def changes(a, b):
    """{series: [Change, ...]} of what both runs have, in list order of run a, then by n."""
    left, right, found = points(a), points(b), {}
    for series, algorithms in left.items():
        for algorithm, rows in algorithms.items():
            others = right.get(series, {}).get(algorithm, {})
            both = [change(algorithm, n, rows[n], others[n]) for n in sorted(rows) if n in others]
            if both and series.kind != "copy":
                found.setdefault(series, []).extend(both)
    return found


def ceiling(of_run, series, n):
    """Seconds of the fastest copy of the same type, device, launch and cache at this n, or None."""
    copies = of_run.get(series._replace(kind="copy", op="none"), {})
    return min((rows[n]["device_median_s"] for rows in copies.values() if n in rows), default=None)


def problem(series):
    text = f"{series.kind} scan of {series.type}, {series.op}"
    return text if series.device == "host" else f"{text}; {series.launch} launch, {series.cache} cache"


def devices(run):
    return "SIMULATED CLOCK" if run.simulated else {"cuda": "GPU", "cpu": "CPU device, no GPU times"}.get(run.device, "host")


def warnings(runs):
    """One sentence each: what differs, so that times do not compare for the algorithms' sake alone."""
    said, names = [], labels(runs)
    kinds = [devices(run) for run in runs]
    if len(set(kinds)) > 1:
        said.append("different devices, whose kernels are not compared: " + ", ".join(f"{n}: {k}" for n, k in zip(names, kinds)))
    for what, column in MUST_AGREE:
        values = [run.header.get(column) or "unknown" for run in runs]
        if len(set(values)) > 1:
            said.append(f"different {what}: " + ", ".join(f"{n}: {v}" for n, v in zip(names, values)))
    busy = [run.header.get("sm_clock_busy_mhz") for run in runs]
    known = [float(x) for x in busy if x]
    if len(known) > 1 and max(known) > 1.02 * min(known):
        said.append("different SM clocks under load, MHz: " + ", ".join(f"{n}: {v or 'unknown'}" for n, v in zip(names, busy)))
    for column, what in (("launch", "launch modes"), ("cache", "cache modes"), ("type", "types"), ("kind", "kinds")):
        sets = [sorted({row[column] for row in timed(run.rows) if row[column] and row["kind"] != "copy"}) for run in runs]
        if len({tuple(s) for s in sets}) > 1:
            said.append(f"different {what}, only common ones compared: " + ", ".join(f"{n}: {'+'.join(s)}" for n, s in zip(names, sets)))
    for run, name in zip(runs, names):
        others = {row["algorithm"] for other in runs if other is not run for row in timed(other.rows)}
        alone = [a for a in dict.fromkeys(row["algorithm"] for row in timed(run.rows)) if a not in others]
        if alone:
            said.append(f"{name} alone has times of " + ", ".join(alone))
    for run, name in zip(runs, names):
        flags, rows = {}, timed(run.rows)
        for row in rows:
            for flag in (row["flags"] or "").split("+"):
                if flag in ("clock-moved", "clock-low", "clock-unlocked", "device-busy", "slow-core"):
                    flags[flag] = flags.get(flag, 0) + 1
            if row["status"] == "throttled":
                flags["throttled"] = flags.get("throttled", 0) + 1
        if flags:
            said.append(f"{name}: of {len(rows)} rows with a time " + ", ".join(f"{count} are {flag}" for flag, count in sorted(flags.items()))
                        + " (docs/timing.md; a version of scanbench that knows no such flag writes none)")
    return said


def fact(run, column, unit):
    value = run.header.get(column)
    if value and (unit > 1 or column.endswith("_gb_per_s")):
        return number(float(value) / unit)
    return value


def headers(runs):
    rows = [[what, *(fact(run, column, unit) for run in runs)] for what, column, unit in FACTS]
    return Table("machines", "The machines", ["", *labels(runs)], [row for row in rows if any(row[1:])],
                 note="As each run has written it in machine.csv; empty: not known there.")


def verdicts(a, b, series, found):
    """One row an algorithm, one column an n: the ratio of times, and the verdict where the intervals are apart."""
    sizes = sorted({c.n for c in found})
    by_algorithm = {}
    for c in found:
        by_algorithm.setdefault(c.algorithm, {})[c.n] = c
    mark = {"faster": "", "slower": "", "same": " (overlap)", "undecided": " ?"}
    rows = [[algorithm, *(f"{number(at[n].ratio)}{mark[at[n].verdict]}" if n in at else None for n in sizes)]
            for algorithm, at in by_algorithm.items()]
    name_a, name_b = labels([a, b])
    return Table("-".join(["verdicts", *filter(None, series)]), f"Time of {name_b} over time of {name_a}: {problem(series)}",
                 ["algorithm", *map(power, sizes)], rows, machine=f"{name_a}, {name_b}",
                 note=f"Below 1: {name_b} is faster; above: slower, both with intervals apart. overlap: the intervals of the two medians "
                      "do, so neither is shown to be faster. ?: too few samples for an interval.")


def floors(runs):
    """Microseconds at the least n, GB/s of useful bytes at the greatest, of each algorithm and run."""
    rows = []
    tables = [points(run) for run in runs]
    for series in dict.fromkeys(s for table in tables for s in table):
        for algorithm in dict.fromkeys(a for table in tables for a in table.get(series, {})):
            cells = []
            for table in tables:
                at = table.get(series, {}).get(algorithm, {})
                least, most = (at[min(at)], at[max(at)]) if at else (None, None)
                cells += [f"{duration(least['device_median_s'])} at {power(least['n'])}" if at else None,
                          f"{number(most['useful_gb_per_s'])} at {power(most['n'])}" if at and most["useful_gb_per_s"] else None]
            rows.append([algorithm, f"{series.type} {series.kind} {series.launch} {series.cache}".strip(), *cells])
    columns = [text for name in labels(runs) for text in (f"floor: {name}", f"plateau, GB/s: {name}")]
    return Table("floors", "Floor and plateau", ["algorithm", "series", *columns], rows, left=2,
                 note="Floor: median time at the least n of the run. Plateau: useful bytes, 2 n w, a second at the greatest n.")


def crossings(runs, marked=None):
    """Where one algorithm overtakes another, a column a run: pairs of `marked` algorithms, and those that cross in one run and
    are told otherwise in another."""
    found, names = {}, labels(runs)
    for name, run in zip(names, runs):
        for c in run.crossings:
            if c["clock"] != "device":
                continue
            device = "simulated" if run.simulated and c["device"] != "host" else c["device"]
            key = (c["algorithm_a"], c["algorithm_b"], Series(device, c["kind"], c["type"], c["op"], c["launch"] or "", c["cache"] or ""))
            if c["verdict"] == "crosses":
                text = f"{c['faster_below']} to {c['faster_above']}: {power(c['last_n_below'])}..{power(c['first_n_above'])}"
            else:
                text = {"always-a": f"{c['algorithm_a']} always", "always-b": f"{c['algorithm_b']} always", "tie": "tie"}[c["verdict"]]
            found.setdefault(key, {}).setdefault(name, []).append(text)
    rows = [[f"{a}, {b}", f"{s.type} {s.kind} {s.launch} {s.cache}".strip(), *("; ".join(at.get(name, [])) or None for name in names)]
            for (a, b, s), at in found.items()
            if len(at) > 1 and (not marked or {a, b} <= set(marked) or (any(".." in text for told in at.values() for text in told) and len(set(map(str, at.values()))) > 1))]
    return Table("crossings", "Crossovers", ["pair", "series", *names], rows, left=2 + len(names),
                 note="A to B: A is wholly faster up to the first n, B from the second n on. All pairs: scanbench crossover.")


def tables(runs, marked=None):
    """Every table of a comparison of two or more runs, for a handout."""
    found = [headers(runs), floors(runs), crossings(runs, marked)]
    for other in runs[1:]:
        found += [verdicts(runs[0], other, series, list_) for series, list_ in changes(runs[0], other).items()]
    return found
