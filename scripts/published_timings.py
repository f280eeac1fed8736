# SPDX-License-Identifier: MIT
"""Timings that others have published (results/published/timings.csv) against the cost model.

Per source and GPU: the launch's constant is fitted to its clean rows up to 2^SMALL, where bytes cost next to nothing;
bandwidth, L2, SMs and clock are the GPU's (scripts/machines.csv); how much of them a scan gets is fitted to the clean sweeps
of the other GPUs. Larger rows are judged, none of them is fitted. Nothing here is measured by scanbench.
"""

import math
import os
import statistics
from dataclasses import dataclass

import cost_model
import runs
from cost_model import Cost
from runs import BadInput
from tabulate import Table, number

TIMINGS = os.path.join(runs.HERE, "results/published/timings.csv")
SMALL = 12  # rows up to 2^12 give the constant of a launch
COLUMNS = ["source", "gpu", "algorithm", "variant", "kind", "type", "n", "time_s", "timing", "judged"]
WIDTHS = {"i8": 1, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "f64": 8}
UNBIASED = {
    "clean",
    "single-run",
    "repeats-unknown",
    "syncs",
    "size-inferred",
    "gpu-unsure",
}  # noise, but nothing but the scan


@dataclass
class Timing:
    source: str
    gpu: str
    algorithm: str
    variant: str
    n: int
    time: float
    judged: tuple
    cost: Cost = None

    @property
    def sound(self):
        """Nothing but the scan is in the time, whatever its noise."""
        return set(self.judged) <= UNBIASED

    @property
    def clean(self):
        return self.judged == ("clean",)

    @property
    def name(self):
        return self.source.split("/")[0] if "cccl" not in self.source else self.source.replace("NVIDIA/", "")


def cost(algorithm, variant, n, width, known):
    """What the author's code does, by our counts of the same algorithm; None where it cannot be said."""
    size = 1 << (n - 1).bit_length() if "padded-pow2" in variant else n
    if algorithm in ("cub", "thrust", "decoupled_lookback"):  # formulas of docs, not counts: two launches, 2n words
        return Cost(2, None, [(0.0, 0.0), (2.0 * n * width, (1.0 if "in-place" in variant else 2.0) * n * width)])
    if algorithm == "copy":
        return Cost(1, None, [(2.0 * n * width, 2.0 * n * width)])
    if algorithm == "blelloch_lesson" and "out-of-place" not in variant:
        algorithm = "blelloch"  # in place, a mask over n threads: the bytes are those of the tree
    if algorithm not in known:
        return None
    found = known[algorithm].cost(size, width)
    passes = list(found.passes)
    launches = found.launches
    if "down-sweep-halved" in variant:  # the way up rewrites all cells, the way down is in place, a thread a node
        levels = (int(launches) - 1) // 2
        passes = passes[:levels] + [(b, b / 2) for b, _ in known["blelloch"].cost(size, width).passes[levels:]]
    if algorithm == "blelloch":  # in place from the first level to the last: one array
        passes = [(b, min(r, b / 2)) if b else (b, r) for b, r in passes]
    if algorithm == "hillis_steele":
        whole = (2.0 * n * width, 2.0 * n * width)
        if "one-extra-level" in variant:
            passes, launches = passes + [whole], launches + 1
        if "plus-shift" in variant:
            passes, launches = passes + [whole], launches + 1
        if "d2d-copy" in variant:
            passes, launches = passes + [whole] * int(found.launches), 2 * launches
    return Cost(launches, found.steps, passes)


def read(path=None):
    """All timings of GPUs, with their costs; `serial` rows apart: (gpu timings, serial timings)."""
    path = path or TIMINGS
    rows = runs.table(path, COLUMNS, names=True)
    if not rows:
        raise BadInput(f"{path}: a header and no rows; restore the file")
    known, gpu, serial = cost_model.counted(), [], []
    for line, row in enumerate(rows, 2):
        try:
            n, time = int(row["n"]), float(row["time_s"])
        except (TypeError, ValueError):
            raise BadInput(f"{path}:{line}: n or time_s is not a number; restore the file") from None
        if n < 1 or not 0 < time < math.inf or row["type"] not in WIDTHS:
            raise BadInput(
                f"{path}:{line}: n = {row['n']}, time_s = {row['time_s']}, type = {row['type']}; restore the file"
            )
        if not all(row[c] for c in ("source", "gpu", "algorithm", "judged")):
            raise BadInput(f"{path}:{line}: source, gpu, algorithm or judged is empty; restore the file")
        timing = Timing(
            row["source"], row["gpu"], row["algorithm"], row["variant"] or "", n, time, tuple(row["judged"].split("+"))
        )
        if timing.algorithm == "serial":
            serial.append(timing)
        else:
            timing.cost = cost(timing.algorithm, timing.variant, n, WIDTHS[row["type"]], known)
            gpu.append(timing)
    return gpu, serial


# What a scan gets of a GPU: of its bandwidth, and of its L2 a clock and SM


@dataclass
class Share:
    """What the clean sweep of one source says."""

    source: str
    gpu: str
    dram: float = None  # bytes a second, over the bandwidth listed
    l2_clock: float = None  # bytes a clock and SM
    l2_sm: float = None  # bytes a second and SM: for GPUs whose clock is not known


def groups(timings):
    found = {}
    for t in timings:
        found.setdefault((t.source, t.gpu), []).append(t)
    return found


def shares(timings):
    """One Share for each clean sweep of scans that launch once a level; what fewer than three sizes say is None."""
    found = []
    for (source, gpu), group in groups(timings).items():
        rows = [
            (t.algorithm, t.n, t.cost, t.time, t.time)
            for t in group
            if t.clean and t.cost and t.algorithm in ("hillis_steele", "blelloch")
        ]
        constants = cost_model.machine(gpu)
        if not rows or not constants["l2_bytes"]:
            continue
        got = cost_model.fit(rows, constants["l2_bytes"]).constants
        share = Share(source, gpu)
        if got["dram"].value and constants["memory_gb_per_s"]:
            share.dram = 1 / got["dram"].value / (constants["memory_gb_per_s"] * 1e9)
        if got["l2"].value and constants["sm_count"]:
            share.l2_sm = 1 / got["l2"].value / constants["sm_count"]
            if constants["boost_clock_mhz"]:
                share.l2_clock = share.l2_sm / (constants["boost_clock_mhz"] * 1e6)
        if share.dram or share.l2_sm:
            found.append(share)
    return found


def median_of(found, name, without=None):
    """The median of the shares of the other GPUs, and how many they are."""
    values = [getattr(s, name) for s in found if getattr(s, name) and s.gpu != without]
    if not values:
        raise BadInput(f"{TIMINGS}: no clean sweep says what a scan gets ({name}); restore the file")
    return statistics.median(values), len(values)


def rates(gpu, found, without=None):
    """{l2, dram}: cost_model.Constant of a GPU by its data sheet and the shares; None where the sheet has a gap."""
    row, made = cost_model.machine(gpu), {}
    if row["memory_gb_per_s"]:
        part, count = median_of(found, "dram", without)
        made["dram"] = cost_model.Constant(
            1 / (part * row["memory_gb_per_s"] * 1e9),
            None,
            count,
            "derived",
            f"{part:.2f} of {row['memory_gb_per_s']:g} GB/s: median of {count} published sweeps; bandwidth: "
            f"{row['source']}",
        )
    if row["sm_count"]:
        name = "l2_clock" if row["boost_clock_mhz"] else "l2_sm"
        part, count = median_of(found, name, without)
        rate = part * row["sm_count"] * (row["boost_clock_mhz"] * 1e6 if row["boost_clock_mhz"] else 1)
        said = (
            f"{part:.1f} bytes a clock and SM" if row["boost_clock_mhz"] else f"{part / 1e9:.1f} GB/s an SM (no clock known)"
        )
        if "dram" in made:
            rate = max(rate, 1 / made["dram"].value)  # no cache is slower than the memory behind it
        made["l2"] = cost_model.Constant(
            1 / rate, None, count, "derived", f"{said}: median of {count} published sweeps; SMs: {row['source']}"
        )
    return made


# Judging


@dataclass
class Judged:
    """One source's GPU: the constants used, and each timing with its prediction."""

    source: str
    gpu: str
    fit: cost_model.Fit
    small: list  # what the launch was fitted to
    rows: list  # (Timing, predicted seconds)
    launch_from: str = ""
    l2_from: str = "listed"


def small_fit(group, l2):
    """first, launch, step of one source by its rows up to 2^SMALL, what bytes cost taken off; and the rows."""
    numpy, _, nnls = cost_model.solvers()
    few = [t for t in group if t.n <= 1 << SMALL and t.cost and t.cost.steps is not None]
    rows = [t for t in few if t.sound] or few
    if len({t.n for t in rows}) < cost_model.LEAST_SIZES:
        return None, []
    steps = any(t.algorithm in ("block_scan", "kogge_stone", "brent_kung") for t in rows)
    a = numpy.array([[1.0, t.cost.launches, t.cost.steps if steps else 0.0] for t in rows])
    b = numpy.array([max(t.time - l2 * sum(x for x, _ in t.cost.passes), 0.1 * t.time) for t in rows])
    weight = numpy.array([1 / t.time for t in rows])
    solved, _ = nnls(a * weight[:, None], b * weight)
    return dict(zip(("first", "launch", "step"), map(float, solved))), rows


def judge(timings):
    """A Judged for each source and GPU whose bandwidth and SMs are known; and what was left out, with reasons."""
    found, judged, left = shares(timings), [], []
    usual = statistics.median(
        s
        for s in ((small_fit(g, 0.0)[0] or {}).get("launch") for g in groups([t for t in timings if t.clean]).values())
        if s
    )
    for (source, gpu), group in groups(timings).items():
        row, made = cost_model.machine(gpu), rates(gpu, found, gpu)
        group = [t for t in group if t.cost]
        missing = [n for n, k in (("bandwidth", "dram"), ("SMs", "l2")) if k not in made]
        if missing or not group:
            left.append((source, gpu, f"{' and '.join(missing)} unknown" if missing else "no algorithm that was counted"))
            continue
        own, small = small_fit(group, made["l2"].value)
        said = f"{len(small)} rows up to 2^{SMALL}" if own else "median of the clean sweeps: no small rows"
        own = own or {"first": 0.0, "launch": usual, "step": 0.0}
        constants = {
            n: cost_model.Constant(own[n], None, len({t.n for t in small}), "fitted" if small else "derived", said)
            for n in ("first", "launch", "step")
        } | made
        l2, l2_from = row["l2_bytes"], "listed"
        fit = cost_model.Fit(constants, [], l2)
        if not l2:
            l2_from, fit.l2_bytes = "inferred", inferred_l2(group, constants)
        rows = [(t, fit.time(t.cost)) for t in group]
        judged.append(Judged(source, gpu, fit, small, rows, said, l2_from))
    return judged, left


def inferred_l2(group, constants):
    """Where no source lists the L2: the power of two with which the sweep's errors are least."""
    rows = [t for t in group if t.sound] or group

    def error(l2):
        fit = cost_model.Fit(constants, [], l2)
        return sum(abs(math.log(fit.time(t.cost) / t.time)) for t in rows)

    return min((2.0**e for e in range(18, 28)), key=error)


def pair(judged, a, b):
    """The published and the predicted times of a and b at the sizes both have (powers of two): ({n: pair}, {n: pair})."""
    published, predicted = {}, {}
    best = {}
    for t, time in judged.rows:
        if t.algorithm in (a, b) and t.n & (t.n - 1) == 0:
            best.setdefault((t.n, t.algorithm), (t.time, time))
    for n in sorted({n for n, _ in best}):
        if (n, a) in best and (n, b) in best:
            published[n], predicted[n] = ((best[n, a][i], best[n, b][i]) for i in (0, 1))
    return published, predicted


# Tables


def classes(rows):
    """{(algorithm, judged): [(published, predicted)]} of what is judged: rows beyond those the launch was fitted to."""
    found = {}
    for t, time in rows:
        if t.n > 1 << SMALL:
            found.setdefault((t.algorithm, "+".join(t.judged)), []).append((t.time, time))
    return found


def summary(pairs):
    """Rows, median of predicted over published, median error, share within a factor of two."""
    ratio = [b / a for a, b in pairs]
    return (
        len(pairs),
        statistics.median(ratio),
        statistics.median(abs(r - 1) for r in ratio),
        sum(0.5 <= r <= 2 for r in ratio) / len(ratio),
    )


def final(found):
    """Of several crossings the last one."""
    return found[-1] if found else None


def compared(judged, a="hillis_steele", b="blelloch"):
    """Crossings of a and b for each source that has both: (Judged, published, predicted, clean)."""
    found = []
    for j in judged:
        published, predicted = pair(j, a, b)
        if len(published) >= 3:
            kinds = {"+".join(t.judged) for t, _ in j.rows if t.algorithm in (a, b)}
            found.append((j, cost_model.crossings(published), cost_model.crossings(predicted), sorted(kinds)))
    return found


def tables(judged=None):
    """Predicted against published: each GPU and algorithm, and the crossovers."""
    if judged is None:
        judged, _ = judge(read()[0])
    rows = []
    for j in judged:
        for (algorithm, kind), pairs in classes(j.rows).items():
            count, ratio, error, share = summary(pairs)
            rows.append(
                [
                    j.gpu,
                    j.rows[0][0].name,
                    algorithm,
                    kind,
                    count,
                    number(ratio),
                    f"{100 * error:.0f} %",
                    f"{100 * share:.0f} %",
                ]
            )
    rows.sort(key=lambda r: (r[3] != "clean", r[0], r[1]))
    columns = [
        "GPU",
        "source",
        "algorithm",
        "judged",
        "rows",
        "predicted / published",
        "median error",
        "within a factor of two",
    ]
    note = f"Rows beyond 2^{SMALL}; the launch of each source is fitted to smaller ones. Nothing was measured by scanbench."
    sound = [r for r in rows if set(r[3].split("+")) <= UNBIASED]
    first = Table(
        "published", "PREDICTION against published times: nothing but the scan is in them", columns, sound, note, 4
    )
    other = Table(
        "published-judged",
        "PREDICTION against published times with something else in them: allocation, transfers, copies, cold caches",
        columns,
        [r for r in rows if r not in sound],
        note + " The model knows nothing of these parts, so it is low.",
        4,
    )
    rows = []
    for j, published, predicted, kinds in compared(judged):
        at, said = final(published), final(predicted)
        apart = math.log2(said[0] / at[0]) if at and said else None
        rows.append(
            [
                j.gpu,
                j.rows[0][0].name,
                ", ".join(kinds).replace("+", " + "),
                f"{runs.power(at[1])}..{runs.power(at[2])}" if at else "none",
                cost_model.about(at[0]) if at else None,
                cost_model.about(said[0]) if said else "none",
                number(apart, 2),
                "" if apart is None else "yes" if abs(apart) <= 1 else "no",
                len(published),
            ]
        )
    rows.sort(key=lambda r: (r[2] != "clean", r[0]))
    second = Table(
        "published-crossovers",
        "PREDICTION against published crossovers: from where on Blelloch in place is faster than Hillis-Steele",
        [
            "GPU",
            "source",
            "judged",
            "published between",
            "published n",
            "predicted n",
            "apart",
            "within one",
            "changes",
        ],
        rows,
        "Interpolated between the sizes both have; of several changes the last one. Apart: in powers of two.",
        3,
    )
    return [first, second, other]
