# SPDX-License-Identifier: MIT
"""What the tables and the handout say of one run of times and one of counts: each derived number in one place.

Data holds the two runs and the one problem (kind, type, operator, launch and cache mode) that is shown; tables(data)
makes the tables, as tabulate.Table, by name. A number is derived from stored columns only; what is not known is None.
"""

import math
import os
import re

import runs
import tabulate
from runs import BadInput

MARKED = ("serial", "simd", "hillis_steele", "blelloch", "block_scan", "decoupled_lookback", "cub_scan")
SPACE = " "


def exact(x):
    """19922945 -> "19 922 945": counts are exact, and shown so."""
    if x is None:
        return None
    return f"{x:,}".replace(",", SPACE) if isinstance(x, int) else tabulate.number(x)


def elements(n):
    """131072 -> "2^17"; 174320.5 -> "2^17.4": any n as a power of two."""
    if n is None:
        return None
    if float(n).is_integer() and int(n) & (int(n) - 1) == 0:
        return f"2^{int(n).bit_length() - 1}"
    return f"2^{math.log2(n):.1f}"


def spread(values, most=5):
    """At most so many of the values, the ends among them, evenly."""
    values = sorted(values)
    if len(values) <= most:
        return values
    return [values[round(i * (len(values) - 1) / (most - 1))] for i in range(most)]


def costs_of_list():
    """{algorithm: (launches, additions, words moved)} by `scanbench list`; its legend; {algorithm: its own threads}."""
    parts = runs.scanbench("list").split("\n\n")
    own = {}
    for line in parts[0].splitlines()[1:]:
        fields = re.split(r"  +", line.strip())
        own[fields[0]] = int(fields[6].split()[0]) if len(fields) > 6 and fields[6][0].isdigit() else None
    found = {}
    for line in parts[1].splitlines()[1:]:
        name, launches, additions, words = (re.split(r"  +", line.strip()) + [""] * 4)[:4]
        found[name] = (launches, additions, words)
    return found, parts[2].strip() if len(parts) > 2 else "", own


class Data:
    """A run of times, a run of counts (either may be None), and the problem that is shown of them."""

    def __init__(self, timed, counted):
        if not timed and not counted:
            raise BadInput("no run of times and no run of counts; `make bench` or `make count` makes one")
        self.timed, self.counted = timed, counted
        self.without = ""  # why there is no cost model
        self.known = runs.algorithms()
        self.formulas, self.legend, self.own = costs_of_list()
        good = runs.timed(timed.rows) if timed else []
        scans = [r for r in good if r["kind"] != "copy"]
        if timed and not scans:
            raise BadInput(
                f"{timed.folder}/results.csv: no row of a scan with a time; measure again, or name another run by RUN="
            )
        shown = scans or [r for r in (counted.counts if counted else []) if r["kind"] != "copy"]
        if not shown:
            raise BadInput(f"{counted.folder}/counts.csv: no row of a scan; count again, or name another run by COUNTS=")
        problems = {(r["kind"], r["type"], r["op"]) for r in shown}
        self.problem = ("exclusive", "i32", "sum") if ("exclusive", "i32", "sum") in problems else sorted(problems)[0]
        self.modes = sorted(
            {(r["launch"], r["cache"]) for r in scans if r["device"] != "host"}
            or {(r["launch"], r["cache"]) for r in scans},
            key=lambda m: (m[0] != "stream", m[1] != "warm"),
        )
        self.mode = self.modes[0] if self.modes else None
        self.machine = timed.machine if timed else counted.machine
        kind, type_, op = self.problem
        self.times, self.all_times = {}, {}
        for r in good:
            if r["type"] != type_ or (r["kind"], r["op"]) not in ((kind, op), ("copy", "none")):
                continue
            mode = self.mode if r["device"] == "host" else (r["launch"], r["cache"])
            place = self.all_times.setdefault(mode, {}).setdefault(r["algorithm"], {})
            if r["n"] not in place or r["threads"] == self.own.get(r["algorithm"]):
                place[r["n"]] = r
        self.times = self.all_times.get(self.mode, {})
        self.counts = {}
        for r in counted.counts if counted else []:
            if r["type"] != "i32" or (r["kind"], r["op"]) not in ((kind, "sum"), ("copy", "none")):
                continue
            place = self.counts.setdefault(r["algorithm"], {})
            if r["n"] not in place or r["threads"] == self.own.get(r["algorithm"]):
                place[r["n"]] = r
        self.scans = [a for a in self.order(self.times) if any(r["kind"] != "copy" for r in self.times[a].values())]
        self.copies = [a for a in self.order(self.times) if a not in self.scans]

    def order(self, names):
        """In the order of the list; what it does not know comes last."""
        place = {name: i for i, name in enumerate(self.known)}
        return sorted(names, key=lambda name: (place.get(name, len(place)), name))

    def title(self, name):
        return self.known.get(name, {}).get("title", name)

    def of_problem(self):
        kind, type_, op = self.problem
        mode = f", {self.mode[0]} launch, {self.mode[1]} caches" if self.mode else ""
        return f"{kind} {op}, {type_}{mode}"

    def whose(self):
        if not self.timed:
            return "no times"
        return self.timed.title

    def times_are(self):
        """How a caption names the machine of the times."""
        return f"{self.whose()}; {self.of_problem()}"

    def sizes(self):
        return sorted({n for a in self.scans for n in self.times[a]})

    def counted_sizes(self):
        return sorted({n for rows in self.counts.values() for n in rows})

    def shared_sizes(self):
        """Sizes that most algorithms were timed at."""
        sizes = self.sizes()
        most = max((sum(n in self.times[a] for a in self.scans) for n in sizes), default=0)
        return [n for n in sizes if 2 * sum(n in self.times[a] for a in self.scans) > most]

    def ceiling(self, n, host=False):
        """Seconds of the fastest copy of n elements in this run: of the device, or of the host's own."""
        found = [
            self.times[a][n]["device_median_s"]
            for a in self.copies
            if n in self.times[a] and (self.times[a][n]["device"] == "host") == host
        ]
        return min(found, default=None)

    def percent_of_copy(self, row):
        copy = self.ceiling(row["n"], row["device"] == "host")
        return 100 * copy / row["device_median_s"] if copy else None

    def verdict(self, a, b, n):
        """-1 where a is wholly faster than b at n, 1 where b is, 0 where the intervals meet; None where one is not there."""
        one, other = self.times.get(a, {}).get(n), self.times.get(b, {}).get(n)
        if not one or not other:
            return None
        if high(one) < low(other):
            return -1
        return 1 if high(other) < low(one) else 0

    def crossings(self, a, b, mode=None, clock="device"):
        """The lines of the pair, in either order, for the problem and mode that are shown."""
        kind, type_, op = self.problem
        mode = mode or self.mode
        return [
            c
            for c in (self.timed.crossings if self.timed else [])
            if {c["algorithm_a"], c["algorithm_b"]} == {a, b}
            and (c["kind"], c["type"], c["op"]) == (kind, type_, op)
            and (c["launch"], c["cache"]) == mode
            and c["clock"] == clock
        ]


def low(row):
    return row["device_ci_lo_s"] if row.get("device_ci_lo_s") is not None else row["device_min_s"]


def high(row):
    return row["device_ci_hi_s"] if row.get("device_ci_hi_s") is not None else row["device_max_s"]


def words(row, what):
    """Words of 4 bytes an element that a counted row moves: "asked" by threads, in "sectors", or as "footprint"."""
    if what == "asked":
        got, size = (row["bytes_read"], row["bytes_written"]), 1
    else:
        tail = {"sectors": "sectors", "footprint": "footprint"}[what]
        got, size = (row[f"global_load_{tail}"], row[f"global_store_{tail}"]), 32
    if None in got:
        return None
    return sum(got) * size / 4 / row["n"]


def mark(row):
    return "" if row["status"] == "ok" else " ~"


def crossing_text(line):
    """One line of crossovers.csv in words."""
    verdicts = {
        "always-a": f"{line['algorithm_a']} faster, or no difference, at every n measured",
        "always-b": f"{line['algorithm_b']} faster, or no difference, at every n measured",
        "tie": "no difference shown",
    }
    return verdicts.get(line["verdict"], f"{line['faster_below']}, then {line['faster_above']}")


def _machine(data):
    rows = []
    run = data.timed or data.counted
    h = run.header

    def add(what, value):
        if value not in (None, ""):
            rows.append([what, value])

    def with_unit(column, unit, scale=1.0):
        text = h.get(column)
        try:
            return f"{tabulate.number(float(text) / scale, 4)} {unit}" if text else None
        except ValueError:
            return text

    add(
        "GPU",
        (
            h.get("gpu_name")
            if data.timed and data.timed.device == "cuda"
            else (
                "none: the kernels ran on the CPU device"
                if data.timed
                else "none needed: counts are the same on every machine"
            )
        ),
    )
    add("Simulated clock", "yes: the times are of no machine" if run.simulated else None)
    add("Compute capability", h.get("compute_capability"))
    gpu = run.device == "cuda"
    add("Multiprocessors" if gpu else "Workers of the CPU device", h.get("sm_count"))
    add("SM clock, maximum", with_unit("sm_clock_max_mhz", "MHz"))
    add("Memory, peak by its data", with_unit("peak_gb_per_s", "GB/s"))
    add("Memory, copied", with_unit("copy_gb_per_s", "GB/s"))
    add(
        "Host to device, device to host",
        " and ".join(filter(None, [with_unit("h2d_gb_per_s", "GB/s"), with_unit("d2h_gb_per_s", "GB/s")])),
    )
    add("L2 cache", with_unit("l2_bytes", "MiB", 2**20))
    add("An empty kernel", tabulate.duration(float(h["empty_kernel_s"])) if h.get("empty_kernel_s") else None)
    add("ECC", {"0": "off", "1": "on"}.get(h.get("ecc"), h.get("ecc")))
    add("Driver", h.get("driver"))
    add("CUDA runtime", h.get("runtime"))
    add("nvcc", h.get("nvcc"))
    add("CUB", h.get("cub"))
    add("Host", ", ".join(filter(None, [h.get("host_cpu"), f"{h['host_cores']} cores" if h.get("host_cores") else None])))
    add("System", ", ".join(filter(None, [h.get("os"), h.get("kernel")])))
    add("Compiler", h.get("compiler"))
    add(
        "scanbench",
        " ".join(
            filter(
                None,
                [
                    h.get("version"),
                    f"commit {h['commit']}" if h.get("commit") else None,
                    "with local changes" if h.get("dirty") == "1" else None,
                ],
            )
        ),
    )
    add("Command", h.get("argv"))
    add("Date", (h.get("date_utc") or "").replace("T", " ").replace("Z", " UTC"))
    if data.timed:
        add("Run of times", f"{data.timed.machine}/{data.timed.name}")
    if data.counted:
        add("Run of counts", f"{data.counted.machine}/{data.counted.name}")
    return tabulate.Table("machine", "Tested on", ["what", "value"], rows, left=2, machine=data.machine)


def _costs(data):
    rows = [[data.title(a), *data.formulas[a]] for a in data.known if a in data.formulas]
    return tabulate.Table(
        "costs",
        "What each algorithm costs, by formula",
        ["algorithm", "launches", "additions", "words moved"],
        rows,
        data.legend,
        left=4,
    )


def _counted(data, name, caption, value, note=""):
    sizes = spread(data.counted_sizes())
    rows = []
    for a in data.order(data.counts):
        cells = [value(data.counts[a][n]) if n in data.counts[a] else None for n in sizes]
        if any(c not in (None, "") for c in cells) and not _is_copy(data.counts[a]):
            rows.append([data.title(a), *cells])
    return tabulate.Table(
        name,
        caption,
        ["algorithm", *map(runs.power, sizes)],
        rows,
        f"Counted from the kernels' source, {data.problem[0]} sum, i32; run {data.counted.name}.{note}",
        machine=data.machine,
    )


def _is_copy(rows):
    return all(r["kind"] == "copy" for r in rows.values())


def _counts(data):
    n = data.counted_sizes()[-1]
    rows = []
    for a in data.order(data.counts):
        r = data.counts[a].get(n)
        if not r or _is_copy(data.counts[a]):
            continue
        rows.append(
            [
                data.title(a),
                r["launches"],
                exact(r["additions"]),
                exact(r["steps"]),
                *(tabulate.number(words(r, w)) for w in ("asked", "sectors", "footprint")),
                exact(r["bank_conflicts"]),
            ]
        )
    return tabulate.Table(
        "counts",
        f"What each algorithm does at n = {runs.power(n)}",
        ["algorithm", "launches", "additions", "steps", "words asked", "in sectors", "footprint", "bank conflicts"],
        rows,
        f"Counted, {data.problem[0]} sum, i32; run {data.counted.name}. Words of 4 bytes for each "
        f"element: those that threads ask "
        "for; those of the 32-byte sectors of each warp's request; those of the sectors that a launch touches at all.",
        machine=data.machine,
    )


def _times(data):
    sizes = spread(data.shared_sizes())
    rows = []
    for a in data.scans + data.copies:
        cells = [
            tabulate.duration(data.times[a][n]["device_median_s"]) + mark(data.times[a][n]) if n in data.times[a] else None
            for n in sizes
        ]
        if any(cells):
            rows.append([data.title(a), *cells])
    return tabulate.Table(
        "times",
        f"Time of one scan: {data.whose()}",
        ["algorithm", *map(runs.power, sizes)],
        rows,
        f"Medians; {data.of_problem()}. ~: a limit on samples or time came before the median was "
        f"known to 1 %, or the clock was low.",
        machine=data.machine,
    )


def _times_ci(data):
    rows = []
    for n in spread(data.shared_sizes()):
        for a in data.scans + data.copies:
            r = data.times[a].get(n)
            if r:
                has = r["device_ci_lo_s"] is not None
                rows.append(
                    [
                        data.title(a),
                        runs.power(n),
                        tabulate.duration(r["device_median_s"]),
                        tabulate.duration(r["device_ci_lo_s"]) if has else "none",
                        tabulate.duration(r["device_ci_hi_s"]) if has else "none",
                        tabulate.duration(r["device_min_s"]),
                        exact(r["samples"]),
                        r["status"],
                    ]
                )
    return tabulate.Table(
        "times-ci",
        f"Medians and their 95 % intervals: {data.whose()}",
        ["algorithm", "n", "median", "from", "to", "minimum", "samples", "status"],
        rows,
        f"{data.of_problem()}. The interval is one of ranks; there is none below six samples.",
        machine=data.machine,
    )


def _rates(data, name, caption, columns_of, note):
    sizes = spread(data.shared_sizes())
    rows = []
    for a in data.scans + data.copies:
        cells = [columns_of(data.times[a][n]) if n in data.times[a] else None for n in sizes]
        if any(cells):
            rows.append([data.title(a), *cells])
    return tabulate.Table(
        name,
        f"{caption}: {data.whose()}",
        ["algorithm", *map(runs.power, sizes)],
        rows,
        f"{data.of_problem()}. {note}",
        machine=data.machine,
    )


def _throughput(data):
    return _rates(
        data,
        "throughput",
        "Useful GB/s",
        lambda r: tabulate.number(r["useful_gb_per_s"]),
        "Useful bytes are 2 n w, one read and one write of every element, whatever an algorithm moves besides.",
    )


def _percent(data):
    def cell(row):
        value = data.percent_of_copy(row)
        return f"{tabulate.number(value, 2 if value < 100 else 3)} %" if value else None

    return _rates(
        data,
        "copy-share",
        "Speed as a share of the copy's",
        cell,
        "Against the faster copy of the same run at the same n; host algorithms against a copy on "
        "the host, where the run has one.",
    )


def pairs(data, every=False):
    """Pairs of scans, in list order, of all algorithms or of those that most people ask about."""
    chosen = [a for a in data.scans if every or a in MARKED]
    return [(a, b) for i, a in enumerate(chosen) for b in chosen[i + 1 :]]


def _crossovers(data, name, every):
    rows = []
    for a, b in pairs(data, every):
        for c in data.crossings(a, b):
            crosses = c["verdict"] == "crosses"
            rows.append(
                [
                    data.title(c["algorithm_a"]),
                    data.title(c["algorithm_b"]),
                    (
                        data.title(c["faster_below"])
                        if crosses
                        else {
                            "always-a": data.title(c["algorithm_a"]),
                            "always-b": data.title(c["algorithm_b"]),
                            "tie": "-",
                        }[c["verdict"]]
                    ),
                    data.title(c["faster_above"]) if crosses else "-",
                    f"{elements(c['last_n_below'])} to {elements(c['first_n_above'])}" if crosses else "none in range",
                    f"{exact(c['last_n_below'])} to {exact(c['first_n_above'])}" if crosses else "-",
                    f"{elements(c['n_estimate'])} = {exact(int(c['n_estimate']))}" if crosses and c["n_estimate"] else "-",
                    {"always-a": "one, always", "always-b": "other, always"}.get(c["verdict"], c["verdict"]),
                ]
            )
    span = data.sizes()
    return tabulate.Table(
        name,
        f"Crossovers: {data.whose()}",
        ["one", "other", "faster below", "faster above", "interval", "elements", "estimate", "verdict"],
        rows,
        f"Measured at n from {runs.power(span[0])} to {runs.power(span[-1])}; {data.of_problem()}. An "
        f"interval goes from the last n at which "
        "one is wholly faster (confidence intervals apart) to the first at which the other is. Where there is none, "
        "the one under \"faster below\" wins wherever there is a difference.",
        left=4,
        machine=data.machine,
    )


def _modes(data):
    """How a crossover moves: each pair once, a column for each way of launching, state of the caches and clock."""
    columns = [(mode, clock) for mode in data.modes for clock in ("device", "host")]
    used, rows = [], []
    for a, b in pairs(data):
        cells = []
        for mode, clock in columns:
            lines = data.crossings(a, b, mode, clock)
            if lines:
                used.append((mode, clock))
            text = []
            for c in lines:
                if c["verdict"] == "crosses":
                    text.append(
                        f"{elements(c['n_estimate'])} ({elements(c['last_n_below'])} to {elements(c['first_n_above'])})"
                        if c["n_estimate"]
                        else f"{elements(c['last_n_below'])} to {elements(c['first_n_above'])}"
                    )
                else:
                    text.append(
                        {
                            "always-a": data.title(c["algorithm_a"]),
                            "always-b": data.title(c["algorithm_b"]),
                            "tie": "no difference",
                        }[c["verdict"]]
                    )
            cells.append("; ".join(text) or None)
        if any(cells):
            rows.append([data.title(a), data.title(b), *cells])
    crossing = [r for r in rows if any(c and c[0].isdigit() for c in r[2:])]
    rows = crossing or rows
    keep = [i for i, c in enumerate(columns) if c in used]
    rows = [[*r[:2], *(r[2 + i] for i in keep)] for r in rows]
    heads = [
        f"{columns[i][0][0]}, {columns[i][0][1]}" + ("" if columns[i][1] == "device" else ", host's clock") for i in keep
    ]
    return tabulate.Table(
        "crossover-modes",
        f"How crossovers move with launch and cache: {data.whose()}",
        ["one", "other", *heads],
        rows,
        "n where the two cross (in brackets the interval), or the one that wins wherever there is a "
        "difference; pairs that cross "
        "in one of the columns, or all pairs if none does."
        + (
            ""
            if len(data.modes) > 1
            else " This run has one way of launching and one state of the caches only; "
            "`--launch both --cache both` measures the others."
        ),
        left=2,
        machine=data.machine,
    )


def floor_and_plateau(data, a):
    """(time at the least n, that n, useful GB/s at the largest n, that n)."""
    sizes = sorted(data.times[a])
    first, last = data.times[a][sizes[0]], data.times[a][sizes[-1]]
    return first["device_median_s"], sizes[0], last["useful_gb_per_s"], sizes[-1]


def _floor(data):
    rows = []
    for a in data.scans + data.copies:
        least, at, rate, n = floor_and_plateau(data, a)
        rows.append([data.title(a), tabulate.duration(least), runs.power(at), tabulate.number(rate), runs.power(n)])
    return tabulate.Table(
        "floor",
        f"Floor and plateau: {data.whose()}",
        ["algorithm", "floor", "at n", "plateau, GB/s", "at n"],
        rows,
        f"Time at the least n and useful GB/s at the largest n of the run; {data.of_problem()}.",
        machine=data.machine,
    )


def tables(data):
    """{name: tabulate.Table} of everything that the two runs can say."""
    made = [_costs(data), _machine(data)]
    if data.counted:
        made += [
            _counts(data),
            _counted(data, "launches", "Launches of one scan", lambda r: exact(r["launches"])),
            _counted(data, "additions", "Additions of one scan", lambda r: exact(r["additions"])),
            _counted(data, "steps", "Steps: the longest chain of additions", lambda r: exact(r["steps"])),
            _counted(
                data,
                "traffic",
                "Memory traffic: words for each element, footprint",
                lambda r: tabulate.number(words(r, "footprint")),
                " Footprint: the 32-byte sectors that each launch touches, loads and stores apart, in words of 4 bytes.",
            ),
        ]
    if data.timed:
        made += [
            _times(data),
            _times_ci(data),
            _throughput(data),
            _percent(data),
            _floor(data),
            _crossovers(data, "crossovers", False),
            _crossovers(data, "crossovers-all", True),
            _modes(data),
        ]
    found = {t.name: t for t in made}
    modelled, data.without = model_tables(data.timed)
    for t in modelled:
        found.setdefault(t.name, t)
    return found


def model_tables(run):
    """(tables of the cost model: what it makes of this run, or else what it predicts; or why there are none)."""
    try:
        import cost_model

        return cost_model.tables(run), ""
    except ImportError as problem:
        return [], f"no cost model: {problem}"
    except BadInput as problem:
        return [], str(problem)


def pick(run=None, machine=None, counts=None):
    """The Data of RUN=, MACHINE= and COUNTS=: by default the newest run of times of a GPU, else of the CPU device; and the
    newest run of counts, of any machine, as counts are the same on all."""
    timed = counted = None
    if run and os.path.isdir(run):
        run = (runs.choose(run) or [run])[0]
    named = runs.read(run.rstrip("/")) if run and ("/" in run or os.path.isdir(run)) else None
    if run and not named:
        found = runs.choose(run, machine) + runs.choose(run, machine, "counts.csv")
        if not found:
            raise BadInput(
                f"RUN={run}: no run of this name below {runs.RESULTS}/{machine or ''}; name the "
                f"folder of one, results/MACHINE/RUN"
            )
        named = runs.read(found[0])
    if named:
        timed = named if named.rows else None
        counted = named if named.counts else None
    if not timed and not (machine and run):
        folders = runs.folders(machine)
        problems = []
        for folder in folders:
            try:
                found = runs.read(folder)
            except BadInput as problem:
                problems.append(str(problem))
                continue
            if not timed or (found.gpu and not found.simulated and not timed.gpu):
                timed = found
            if timed.gpu and not timed.simulated:
                break
        if not timed and problems and not counted:
            raise BadInput(problems[0])
    if counts:
        folder = counts if "/" in counts else (runs.choose(counts, None, "counts.csv") or [counts])[0]
        counted = runs.read(folder)
        if not counted.counts:
            raise BadInput(f"{folder}: no counts.csv; name a run of counts by COUNTS=")
    elif not counted:
        for folder in runs.folders(machine, "counts.csv") or runs.folders(None, "counts.csv"):
            counted = runs.read(folder)
            break
    if machine and not timed and not runs.folders(machine) and not runs.folders(machine, "counts.csv"):
        raise BadInput(
            f"MACHINE={machine}: no complete run below {runs.RESULTS}/{machine}; `ls {runs.RESULTS}` names the machines"
        )
    return Data(timed, counted)
