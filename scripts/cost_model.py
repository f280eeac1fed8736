# SPDX-License-Identifier: MIT
"""The cost model: what a scan costs, by its counts and a few constants of a machine.

    T = first + launches * launch + bytes_l2 * l2 + bytes_dram * dram + steps * step          (seconds)

Launches, steps and the bytes of each launch (its footprint: distinct sectors of 32 bytes, loads and stores apart) come
from counts.csv and launches.csv. A launch whose data fit in the L2 pays the rate of the L2 for its bytes, any other that
of the memory. Counts end at some size; beyond, a law continues them (docs/model.md). The constants are fitted to the
measured rows of a GPU run (`fitted`), or put together from what others have published (`predicted`): never both.

For other tools: `tables(run)` gives the tables, `bill(run)` the parts of each modelled time.
"""

import math
import os
import sys
from dataclasses import dataclass, field

import runs
from runs import BadInput
from tabulate import Table, duration, number

SECTOR = 32
NAMES = ("first", "launch", "l2", "dram", "step")
UNITS = {"first": "s a run", "launch": "s a launch", "l2": "s a byte", "dram": "s a byte", "step": "s a step"}
LEAST_SIZES = 3  # a constant that fewer sizes speak for is not fitted
LAST_COUNTED = 20  # laws are read off the counts up to 2^20 and checked beyond
# Kernels that write where they read: what they load and what they store are the same bytes of the L2. Counts cannot tell.
IN_PLACE = {"blelloch": ("upsweep", "downsweep"), "": ("add_sums",)}
MACHINES = os.path.join(runs.HERE, "scripts/machines.csv")


# What is counted, and how it goes on


@dataclass
class Cost:
    """What one run of an algorithm on n elements does; passes: bytes of each launch, and bytes that it wants in the L2."""

    launches: float
    steps: float  # None where it follows from no law
    passes: list

    def features(self, l2_bytes):
        """What the constants are multiplied with, in the order of NAMES."""
        inside = sum(b for b, resident in self.passes if resident <= l2_bytes)
        return [1.0, self.launches, inside, sum(b for b, _ in self.passes) - inside, self.steps or 0.0]


@dataclass
class Law:
    """How a count goes on beyond the sizes counted: `constant`, `linear` in k = ceil(log2 n), or `none`."""

    kind: str
    at_last: float = 0.0
    slope: float = 0.0
    last: int = LAST_COUNTED
    tolerance: float = 0.0
    check_k: int = None
    expected: float = None
    found: float = None

    def at(self, k):
        return self.at_last + self.slope * (k - self.last)

    @property
    def check(self):
        """`holds`, `fails`, or None: not checked."""
        if self.found is None or self.kind == "none":
            return None
        return "holds" if abs(self.found - self.expected) <= self.tolerance * abs(self.found) + 1e-12 else "fails"


def law(values, tolerance):
    """The law of {k: count} over the last six sizes up to 2^20, and its check at the first size beyond."""
    known = sorted(k for k in values if k <= LAST_COUNTED)[-6:]
    beyond = min((k for k in values if k > LAST_COUNTED), default=None)
    found = None
    if len(known) >= 3:
        y = [values[k] for k in known]
        slope = (y[-1] - y[0]) / (known[-1] - known[0])
        near = lambda a, b: abs(a - b) <= tolerance * max(map(abs, y)) + 1e-12
        if all(near(v, y[-1]) for v in y):
            found = Law("constant", y[-1], 0.0, known[-1], tolerance)
        elif all(near(v, y[-1] + slope * (k - known[-1])) for k, v in zip(known, y)):
            found = Law("linear", y[-1], slope, known[-1], tolerance)
    found = found or Law("none", values[known[-1]] if known else 0.0, 0.0, known[-1] if known else 0, tolerance)
    if beyond is not None:
        found.check_k, found.expected, found.found = beyond, found.at(beyond), values[beyond]
    return found


class Counted:
    """The counts of one algorithm (one kind, type and operator) by size, and their laws."""

    def __init__(self, name, points, threads=None):
        self.name, self.threads = name, threads
        self.points = {n: p for n, p in points.items() if n and n & (n - 1) == 0}
        if not self.points:
            raise BadInput(f"no counts of {name} at powers of two; count again")
        ks = {n.bit_length() - 1: p for n, p in self.points.items()}
        self.least, self.most = min(ks), max(ks)
        self.laws = {
            "launches": law({k: p.launches for k, p in ks.items()}, 0.0),
            "steps": law({k: p.steps for k, p in ks.items()}, 0.05),
            "bytes": law({k: sum(b for b, _ in p.passes) / 2**k for k, p in ks.items()}, 0.03),
        }

    @property
    def why_not(self):
        """Why this is not modelled, or None."""
        if self.laws["bytes"].kind == "none":
            return "bytes follow no law"
        if self.laws["bytes"].check == "fails":
            return f"the law of its bytes fails at 2^{self.laws['bytes'].check_k}"
        return None

    @property
    def steps_known(self):
        return self.laws["steps"].kind != "none"

    def value(self, what, k):
        """Launches or steps at 2^k: by the law, or where its check found another number, by that number from there on."""
        by = self.laws[what]
        if by.check == "fails" and k >= by.check_k:
            return by.found
        if by.kind == "constant" and k < self.least:
            return getattr(self.points[2**self.least], what)
        return max(by.at(k), 1 if what == "launches" else 0)

    def cost(self, n, width=4):
        """The cost at any n >= 1, counted or continued; sizes between powers of two as the next power, bytes by n."""
        k = max(n - 1, 0).bit_length()
        nearest = min(max(k, self.least), self.most)
        while 2**nearest not in self.points:
            nearest -= 1
        point = self.points[2**nearest]
        scale = n * width / 4
        if nearest == k:
            launches, steps, total = point.launches, point.steps, sum(b for b, _ in point.passes) / 2**k * scale
        else:
            launches, steps = round(self.value("launches", k)), self.value("steps", k)
            by = self.laws["bytes"]
            total = (
                by.at(k) if k > self.most or by.kind == "linear" else sum(b for b, _ in point.passes) / 2**nearest
            ) * scale
        return Cost(launches, steps if self.steps_known else None, spread(point.passes, launches, total, scale / 2**nearest))


def spread(passes, launches, total, scale):
    """The passes of another size: first and last ones as they were, by n; what is over goes to those put between."""
    half = min((launches + 1) // 2, (len(passes) + 1) // 2)
    tail = min(launches - half, len(passes) - half)
    kept = [(b * scale, r * scale) for b, r in passes[:half] + passes[len(passes) - tail :]]
    between = int(launches - len(kept))
    rest = max(total - sum(b for b, _ in kept), 0.0)
    if between > 0:
        return kept[:half] + [(rest / between, rest / between)] * between + kept[half:]
    factor = total / sum(b for b, _ in kept) if total and any(b for b, _ in kept) else 1.0
    return [(b * factor, r * factor) for b, r in kept]


def resident(algorithm, kernel, load, store):
    """Bytes that a launch wants in the L2: where it works in place, loads and stores are of the same ones."""
    return max(load, store) if kernel in IN_PLACE.get(algorithm, IN_PLACE[""]) else load + store


_counted = {}


def counted(kind="exclusive", type_="i32", op="sum"):
    """{algorithm: Counted} from all runs of counts, the newest first: a later count of a size replaces an earlier one."""
    key = (runs.RESULTS, kind, type_, op)
    if key in _counted:
        return _counted[key]
    points, threads, found = {}, {}, runs.folders(having="counts.csv")
    for folder in found:
        run = runs.read(folder)
        wanted = {}
        for row in run.counts:
            if row["kind"] in (kind, "copy") and row["type"] == type_ and row["op"] in (op, "none") and row["launches"]:
                if row["n"] not in points.setdefault(row["algorithm"], {}):
                    wanted[row["algorithm"], row["kind"], row["n"], row["threads"]] = row
        passes = {}
        if wanted:
            for row in runs.table(
                os.path.join(folder, "launches.csv"), ["algorithm", "n", "kernel", "global_load_footprint"]
            ):
                at = row["algorithm"], row["kind"], row["n"], row["threads"]
                if at in wanted and row["type"] == type_ and row["op"] in (op, "none"):
                    load, store = (row[c + "_footprint"] * SECTOR for c in ("global_load", "global_store"))
                    passes.setdefault(at, []).append((load + store, resident(row["algorithm"], row["kernel"], load, store)))
        for at, row in wanted.items():
            if len(passes.get(at, ())) != row["launches"]:
                raise BadInput(
                    f"{folder}/launches.csv: {len(passes.get(at, ()))} launches of {at[0]} at n = {at[2]}, but counts.csv "
                    f"says {row['launches']}; restore both files"
                )
            threads.setdefault(at[0], row["threads"])
            points[at[0]].setdefault(at[2], Cost(row["launches"], row["steps"] or 0, passes[at]))
    if not any(points.values()):
        raise BadInput(f"{runs.RESULTS}: no run of counts; `make count` makes one")
    _counted[key] = {name: Counted(name, sizes, threads[name]) for name, sizes in points.items() if sizes}
    return _counted[key]


# Constants


@dataclass
class Constant:
    value: float = None  # None: not fitted
    error: float = None  # standard error
    sizes: int = 0  # how many sizes speak for it
    status: str = ""  # fitted, at-bound, not-fitted, published, derived
    source: str = ""


@dataclass
class Fit:
    constants: dict  # name -> Constant
    rows: list  # (algorithm, n, cost, measured, sigma) that the constants can model
    l2_bytes: float

    def parts(self, cost):
        """Seconds by constant, or None where a constant that is needed is not known."""
        found = {}
        for name, x in zip(NAMES, cost.features(self.l2_bytes)):
            value = self.constants[name].value
            if value is None and x > 0 and name not in ("first", "step"):
                return None
            found[name] = (value or 0.0) * x
        return found

    def time(self, cost):
        parts = self.parts(cost)
        return None if parts is None else sum(parts.values())


def solvers():
    """numpy, scipy's lsq_linear and nnls: loaded when something is fitted."""
    try:
        import numpy
        from scipy.optimize import lsq_linear, nnls
    except ImportError as error:
        raise BadInput(
            f"{error.name} for {sys.executable} is not here, and constants are fitted by it; `make deps` installs it"
        ) from error
    return numpy, lsq_linear, nnls


def fit(rows, l2_bytes, least=LEAST_SIZES):
    """Constants by weighted least squares, none below zero. rows: [(algorithm, n, Cost, seconds, sigma)].

    Rows far off weigh less (Huber), or an algorithm that the model misses would bend the constants of all others.

    A constant needs rows of `least` sizes in which it plays a part, else it is not fitted, and rows that need it are left
    out (launches and bytes; first and step are taken as 0). So is a step where nothing tells it from a launch.
    """
    numpy, lsq_linear = solvers()[:2]
    rows, dropped, why = list(rows), set(), {}
    while True:
        matrix = [r[2].features(l2_bytes) for r in rows]
        sizes = {name: {r[1] for r, x in zip(rows, matrix) if x[i] > 0} for i, name in enumerate(NAMES)}
        few = [n for n in NAMES if n not in dropped and len(sizes[n]) < least]
        for name in few:
            dropped.add(name)
            why[name] = (len(sizes[name]), f"not fitted: {len(sizes[name])} sizes, {least} are needed")
        keep = [
            r
            for r, x in zip(rows, matrix)
            if not any(n in dropped and x[i] > 0 for i, n in enumerate(NAMES) if n not in ("first", "step"))
        ]
        if len(keep) == len(rows) and not few:
            break
        rows = keep
        if not rows:
            break
    used = [n for n in NAMES if n not in dropped]
    constants = {n: Constant(None, None, *why.get(n, (0, "not fitted: no rows are left"))) for n in NAMES}
    while rows and used:
        a = numpy.array([[x for name, x in zip(NAMES, r[2].features(l2_bytes)) if name in used] for r in rows], float)
        t, sigma = (numpy.array([r[i] for r in rows], float) for i in (3, 4))
        a, t = a / sigma[:, None], t / sigma
        scale = numpy.linalg.norm(a, axis=0)
        a /= scale
        singular = numpy.linalg.svd(a, compute_uv=False)
        if len(rows) < len(used) or singular[-1] < 1e-4 * singular[0]:
            lost = "step" if "step" in used else "first" if "first" in used else used[-1]
            used.remove(lost)
            constants[lost] = Constant(None, None, len(sizes[lost]), "not fitted: nothing tells it from a launch")
            continue
        weight = numpy.ones(len(rows))
        for _ in range(ROUNDS):
            root = numpy.sqrt(weight)
            solved = lsq_linear(a * root[:, None], t * root, bounds=(0, numpy.inf), tol=1e-12)
            off = abs(a @ solved.x - t)
            weight, before = 1 / numpy.maximum(1, off / (FAR * max(1.0, 1.4826 * numpy.median(off)))), weight
            if abs(weight - before).max() < 1e-6:
                break
        spare = max(len(rows) - len(used), 1)
        errors = (
            numpy.sqrt(numpy.diag(numpy.linalg.pinv((a * root[:, None]).T @ (a * root[:, None]))) * 2 * solved.cost / spare)
            / scale
        )
        for name, value, error in zip(used, solved.x / scale, errors):
            bound = value < 1e-3 * error
            constants[name] = Constant(
                0.0 if bound else value, error, len(sizes[name]), "at its bound: 0" if bound else "fitted"
            )
        break
    if not used:
        rows = []
    return Fit(constants, rows, l2_bytes)


def machine(gpu):
    """The row of scripts/machines.csv of a GPU: by its name, or a slug of it."""
    known = runs.table(MACHINES, ["gpu", "sm_count", "boost_clock_mhz", "memory_gb_per_s", "l2_bytes", "source"], names=True)
    for row in known:
        if slug(row["gpu"]) == slug(gpu):
            return {k: v if k in ("gpu", "source", "compute_capability") or v is None else float(v) for k, v in row.items()}
    near = [r["gpu"] for r in known if slug(gpu) in slug(r["gpu"])]
    raise BadInput(
        f"{gpu}: no such GPU in scripts/machines.csv; "
        + (f"did you mean {near[0]}?" if near else "name one of its column gpu")
    )


def slug(name):
    return "".join(c if c.isalnum() or c in "._" else "-" for c in name.lower()).strip("-")


# Models: fitted to a run, or predicted for a GPU


DEFAULT_GPUS = ("GeForce RTX 4090", "H100 SXM")
PERFORMANCE = "docs/performance.md"
ASSUMED = {  # what no data sheet lists and no sweep of ours has measured
    "first": Constant(0.0, None, 0, "assumed", "taken as part of the launches"),
    "launch": Constant(
        3.0e-6,
        None,
        0,
        "published",
        "2.0 us between two launches: NVIDIA/cccl pull request 6639; 1.0 us a kernel's "
        f"own start: assumed in {PERFORMANCE}",
    ),
    "step": Constant(3.0e-8, None, 0, "assumed", f"a level of a tree in shared memory: assumed in {PERFORMANCE}"),
}
ENOUGH = 0.01  # least sigma, as a part of the time: a model is no better than that
FAR, ROUNDS = 1.345, 100  # Huber's weights: a row so many deviations off weighs less; rounds of weighting anew


@dataclass
class Model:
    """Constants, and what they say. `rows`: (algorithm, n, parts, modelled, measured or None, how: counted or continued)."""

    kind: str  # fitted or predicted: PREDICTION is written wherever the second is shown
    title: str
    machine: str  # the folder below plots/
    run: runs.Run
    fit: Fit
    counts: dict
    rows: list = field(default_factory=list)
    left: list = field(default_factory=list)  # (algorithm, why it is not modelled)
    scan: tuple = ("exclusive", "i32")

    @property
    def heading(self):
        return "Fitted to measured times" if self.kind == "fitted" else "PREDICTION, nothing of it measured"

    def sizes(self):
        return sorted({row[1] for row in self.rows})


def modelled(counts):
    """Algorithms of kernels that can be modelled, in order, and (name, why) of the others."""
    names, left = [], []
    for name, c in counts.items():
        why = c.why_not
        if why is None and not c.steps_known and c.points[2**c.most].steps >= 2**c.most - 1:
            why = "one chain of additions through the whole array"
        if name == "memcpy":
            why = "not a kernel"
        if why:
            left.append((name, why))
        else:
            names.append(name)
    return names, left


def rows_of(run, names, counts, kind, type_):
    """Measured rows that a model is fitted to: one launch and cache; the block size that was counted.

    {(algorithm, n): (time, sigma)}, and the algorithms whose launches are not those counted: [(name, why)]."""
    found, other = {}, {}
    for row in runs.timed(run.rows):
        if (
            row["device"] == "cuda"
            and row["algorithm"] in names
            and row["kind"] in (kind, "copy")
            and row["type"] == type_
            and row["op"] in ("sum", "none", None)
            and row["launch"] == "stream"
            and row["cache"] == "warm"
            and row["threads"] in (counts[row["algorithm"]].threads, None)
        ):
            time, low, high = row["device_median_s"], row.get("device_ci_lo_s"), row.get("device_ci_hi_s")
            half = (high - low) / 2 if low and high else 0.05 * time
            launches = round(counts[row["algorithm"]].cost(row["n"]).launches)
            if row.get("launches") not in (None, launches):
                other.setdefault(
                    row["algorithm"],
                    f"{row['launches']} launches at n = {row['n']}, but {launches} by the counts; count again",
                )
                continue
            found[row["algorithm"], row["n"]] = (time, math.hypot(half, ENOUGH * time))
    return found, list(other.items())


def rated(fit, counts, name, n, measured):
    c = counts[name]
    parts = fit.parts(c.cost(n))
    return parts and (name, n, parts, sum(parts.values()), measured, "counted" if n in c.points else "continued")


def from_run(run):
    """The model fitted to a run of a GPU; BadInput says why not."""
    where = os.path.join(run.folder, "results.csv")
    if not run.gpu or run.simulated:
        raise BadInput(f"{where}: no times of a GPU, so none of its constants can be fitted; a GPU run has them")
    l2 = float(run.header.get("l2_bytes") or 0)
    if not l2:
        raise BadInput(
            f"{run.folder}/machine.csv:2: l2_bytes is empty, so L2 and memory cannot be told apart; measure again"
        )
    for kind, type_ in (("exclusive", "i32"), ("inclusive", "i32"), ("exclusive", "f32"), ("inclusive", "f32")):
        counts = counted(kind)  # f32 is counted as i32: four bytes
        names, left = modelled(counts)
        times, other = rows_of(run, names, counts, kind, type_)
        if any(a != "copy" for a, _ in times):
            break
    else:
        raise BadInput(f"{where}: no rows of counted algorithms (i32 or f32, sum, stream, warm); measure these")
    left += other + [
        (row, "not counted")
        for row in dict.fromkeys(r["algorithm"] for r in run.rows if r["device"] == "cuda")
        if row not in counts
    ]
    told = fit([(a, n, counts[a].cost(n), t, s) for (a, n), (t, s) in times.items() if counts[a].steps_known], l2)
    if not told.rows:
        raise BadInput(f"{where}: fewer than {LEAST_SIZES} sizes, so no constant can be fitted; measure more sizes")
    for constant in told.constants.values():
        constant.source = f"rows of {run.name}"
    model = Model("fitted", run.title, run.machine, run, told, counts, left=left, scan=(kind, type_))
    model.rows = [
        r
        for (a, n), (t, _) in sorted(times.items(), key=lambda x: (list(counts).index(x[0][0]), x[0][1]))
        if (r := rated(told, counts, a, n, t))
    ]
    return model


def for_gpu(gpu, sizes=None):
    """The model of a GPU in scripts/machines.csv by what others have published: a PREDICTION."""
    import published_timings

    row = machine(gpu)
    for column in ("memory_gb_per_s", "l2_bytes", "sm_count"):
        if not row[column]:
            raise BadInput(f"{MACHINES}: {column} of {row['gpu']} is empty, so nothing can be predicted; name another GPU")
    sweeps = published_timings.shares(published_timings.read()[0])
    constants = {**ASSUMED, **published_timings.rates(row["gpu"], sweeps)}
    counts = counted()
    names, left = modelled(counts)
    told = Fit({n: constants[n] for n in NAMES}, [], row["l2_bytes"])
    model = Model("predicted", row["gpu"], "predicted-" + slug(row["gpu"]), None, told, counts, left=left)
    model.rows = [r for a in names for n in sizes or [2**k for k in range(10, 29)] if (r := rated(told, counts, a, n, None))]
    return model


def model_of(run=None, gpu=None):
    """The model of a run where it is of a GPU, else the prediction for `gpu`."""
    if run is not None and run.gpu and not run.simulated:
        return from_run(run)
    return for_gpu(gpu or DEFAULT_GPUS[0])


def crossings(times):
    """times: {n: (a, b)}: where the faster one changes: (n between, last n before, first n after, the faster one then)."""
    found, sizes = [], sorted(n for n, (a, b) in times.items() if a and b)
    for low, high in zip(sizes, sizes[1:]):
        x, y = (math.log(times[n][0] / times[n][1]) for n in (low, high))
        if x * y < 0:
            found.append((low * (high / low) ** (x / (x - y)), low, high, "b" if y > 0 else "a"))
    return found


def matched(said, seen, most=3):
    """Pairs of a modelled (n, faster above) and a measured crossing: of one direction, the nearest, at most `most` powers
    of two apart; what has no partner stands alone. In order of n."""
    said, pairs = list(said), []
    for row in seen:
        near = [
            (abs(math.log2(at[0] / row["n_estimate"])), at)
            for at in said
            if at[1] == row["faster_above"] and row["n_estimate"]
        ]
        best = min((x for x in near if x[0] <= most), default=(0, None))[1]
        if best:
            said.remove(best)
        pairs.append((best, row))
    pairs += [(at, None) for at in said]
    return sorted(pairs, key=lambda p: p[0][0] if p[0] else p[1]["n_estimate"] or 0)


def crossovers(model):
    """Rows (a, b, number, modelled n or None, faster above, measured (last below, first above, n) or None) for each pair."""
    times = {}
    for name, n, _, modelled_s, _, _ in model.rows:
        times.setdefault(name, {})[n] = modelled_s
    measured = {}
    for row in model.run.crossings if model.run else ():
        if (
            row["kind"] == model.scan[0]
            and row["type"] == model.scan[1]
            and row["op"] == "sum"
            and row["launch"] == "stream"
            and row["cache"] == "warm"
            and row["clock"] == "device"
            and row["verdict"] == "crosses"
        ):
            measured.setdefault((row["algorithm_a"], row["algorithm_b"]), []).append(row)
    found, names = [], list(times)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            grid = {n: (times[a][n], times[b][n]) for n in times[a] if n in times[b] and n & (n - 1) == 0}
            said = [(at[0], b if at[3] == "b" else a) for at in crossings(grid)]
            for place, (at, row) in enumerate(matched(said, measured.get((a, b)) or measured.get((b, a)) or []), 1):
                found.append(
                    (
                        a,
                        b,
                        place,
                        at and at[0],
                        at[1] if at else row["faster_above"],
                        row and (row["last_n_below"], row["first_n_above"], row["n_estimate"]),
                    )
                )
    return found


# Tables


def about(n):
    """123456 -> "2^16.9"."""
    return None if n is None else f"2^{math.log2(n):.1f}"


def shown_sizes(sizes, count=5):
    powers = [n for n in sizes if n & (n - 1) == 0] or sizes
    if len(powers) <= count:
        return powers
    return [powers[round(i * (len(powers) - 1) / (count - 1))] for i in range(count)]


def bill_table(model):
    fitted = model.kind == "fitted"
    columns = ["algorithm", "n", "launches", "L2", "memory", "steps", "modelled"] + (
        ["measured", "modelled / measured"] if fitted else []
    )
    rows, sizes = [], shown_sizes(model.sizes(), 3)
    for name, n, parts, total, measured, how in model.rows:
        if n in sizes:
            steps = (duration(parts["step"]) if parts["step"] else "0") if model.counts[name].steps_known else "not known"
            rows.append(
                [
                    name,
                    runs.power(n),
                    *(duration(x) if x else "0" for x in (parts["first"] + parts["launch"], parts["l2"], parts["dram"])),
                    steps,
                    duration(total),
                ]
                + ([duration(measured), number(total / measured)] if fitted else [])
            )
    return Table(
        "bill",
        f"{'The bill' if fitted else 'PREDICTION: the bill'}: what the time of a scan goes to on {model.title}",
        columns,
        rows,
        (
            "Launches times their time, bytes of launches that fit in the L2, bytes of others, longest chain of additions. "
            + (
                "The model is fitted to the measured times beside it."
                if fitted
                else "PREDICTION from published constants; nothing " "here was measured."
            )
        ),
        2,
        model.title,
    )


def constants_table(model):
    rows = []
    for name in NAMES:
        c = model.fit.constants[name]
        rate = (
            f"{1 / c.value / 1e9:.0f} GB/s"
            if name in ("l2", "dram") and c.value
            else duration(c.value) if c.value is not None else None
        )
        rows.append(
            [
                name,
                rate,
                f"{100 * c.error / c.value:.1f} %" if c.value and c.error is not None else None,
                c.sizes or None,
                c.status,
                c.source.split("; bandwidth:")[0].split("; SMs:")[0],
            ]
        )
    return Table(
        "constants",
        f"{'Constants fitted to the run' if model.kind == 'fitted' else 'PREDICTION: constants'} of {model.title}",
        ["constant", "value", "standard error", "sizes or sweeps", "how", "from"],
        rows,
        f"L2: {model.fit.l2_bytes / 2 ** 20:g} MiB. Launches whose data fit in it pay `l2` for their bytes, others `dram`.",
        1,
        model.title,
    )


def crossovers_table(model, pairs=None):
    pairs = pairs or (
        ("hillis_steele", "blelloch"),
        ("hillis_steele", "blelloch_lesson"),
        ("blelloch", "block_scan"),
        ("hillis_steele", "block_scan"),
        ("block_scan", "reduce_then_scan"),
        ("warp_shuffle", "reduce_then_scan"),
    )
    rows = []
    for a, b, count, at, faster, seen in crossovers(model):
        if (a, b) in pairs or (b, a) in pairs:
            row = [a, b, about(at), faster]
            if model.kind == "fitted":
                low, high, n = seen or (None, None, None)
                row += [
                    f"{runs.power(int(low))}..{runs.power(int(high))}" if low and high else None,
                    about(n),
                    number(math.log2(at / n), 2) if at and n else None,
                ]
            rows.append(row)
    present = {r[0] for r in model.rows}
    crossing = {(a, b) for a, b, *_ in crossovers(model)}
    for a, b in pairs:
        if {a, b} <= present and (a, b) not in crossing and (b, a) not in crossing:
            rows.append([a, b, "none in range", None] + ([None] * 3 if model.kind == "fitted" else []))
    fitted = model.kind == "fitted"
    return Table(
        "crossovers-modelled",
        ("Crossovers as the model has them, and as measured, on " if fitted else "PREDICTION: crossovers on ") + model.title,
        ["a", "b", "modelled n", "faster above"]
        + (["measured between", "measured n", "powers of two apart"] if fitted else []),
        rows,
        model.heading + ".",
        2,
        model.title,
    )


def residuals_table(model):
    """How far the fitted model is from what it was fitted to, by algorithm; those outside the fit are marked."""
    import statistics

    rows = []
    for name in dict.fromkeys(r[0] for r in model.rows):
        ratio = [r[3] / r[4] for r in model.rows if r[0] == name]
        rows.append(
            [
                name,
                "yes" if model.counts[name].steps_known else "no",
                len(ratio),
                number(statistics.median(ratio)),
                number(min(ratio)),
                number(max(ratio)),
                f"{100 * statistics.median(abs(r - 1) for r in ratio):.1f} %",
            ]
        )
    return Table(
        "residuals",
        f"The fitted model over the measured times on {model.title}",
        ["algorithm", "in the fit", "sizes", "median", "least", "most", "median error"],
        rows,
        "Each size is in bill.csv. Not in the fit: algorithms whose steps follow no law.",
        2,
        model.title,
    )


def laws_table(counts):
    rows = []
    for name, c in counts.items():
        if name == "memcpy":
            continue
        cells = [name]
        for what in ("launches", "steps", "bytes"):
            by = c.laws[what]
            text = {
                "none": "no law",
                "constant": number(by.at_last),
                "linear": (
                    f"{number(by.slope)} k {'+' if (z := by.at(0)) >= 0 else '-'} " f"{number(abs(z))}"
                    if abs(by.at(0)) > 1e-3 * by.at_last
                    else f"{number(by.slope)} k"
                ),
            }[by.kind]
            if by.check:
                text += ", holds" if by.check == "holds" else f"; {number(by.found)} from 2^{by.check_k}"
            cells.append(text)
        rows.append(cells)
    return Table(
        "laws",
        "How the counts go on beyond 2^20, and whether the size beyond agrees",
        ["algorithm", "launches", "steps", "bytes an element"],
        rows,
        "k = ceil(log2 n); bytes: footprint of all launches, 4-byte elements. `holds`: the next count is as the law says.",
        1,
    )


def own_tables(model):
    return [
        bill_table(model),
        constants_table(model),
        *([residuals_table(model)] if model.kind == "fitted" else []),
        crossovers_table(model),
        laws_table(model.counts),
    ]


def tables(run=None, gpu=None):
    """What a handout shows: bill, constants, crossovers, laws, then predicted against published. A PREDICTION says so."""
    import published_timings

    model = model_of(run, gpu)
    return [*own_tables(model), *published_timings.tables()]
