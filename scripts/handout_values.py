# SPDX-License-Identifier: MIT
"""What a handout can say: the values {{n:...}} and the conditions {{if ...}} of its Markdown.

Each is a method of Values whose first line of documentation tells how it is written; `scripts/handout --list` prints these
lines. What cannot be said of the runs at hand raises Wrong, and the place in the Markdown is added by scripts/handout.
"""

import os
import re

import run_tables
import runs
import tabulate
from runs import BadInput

THIN, HARD = "\u202f", "\u00a0"  # spaces at which no line ends: between digits, before units


class Wrong(Exception):
    """What is wrong with one placeholder; file and line come from where it stands."""


def size(text):
    """ "2^20", "1024", or "least" and "most" later on: a number of elements."""
    match = re.fullmatch(r"(\d+)\^(\d+)|(\d+)", text)
    if not match:
        raise Wrong(f'"{text}" is no size; write 1024 or 2^10')
    return int(match[3]) if match[3] else int(match[1]) ** int(match[2])


def prose(text):
    """For the middle of a sentence: powers raised, digits held together, nothing of it Markdown."""
    text = re.sub(r"(?<=\d) (?=\d{3}\b)", THIN, str(text))
    text = (
        re.sub(r"(?<=\d) (?=(?:ns|us|ms|s|GB/s|MiB|MHz|GHz)\b|%)", HARD, text)
        .replace(HARD + "us", HARD + "µs")
        .replace("n = ", f"n{HARD}={HARD}")
    )
    text = re.sub(r"([\\`*_|<>\[\]#~$])", r"\\\1", text)
    return re.sub(r"(\d+)\^([\d.]+)", r"\1^\2^", text)


class Values:
    """What {{n:...}} and {{if ...}} know. A method's first line says what it gives; its arguments are words."""

    def __init__(self, data, drawn, found):
        self.data, self.drawn, self.found = data, drawn, found
        self.model = self.timings = None

    def _algorithm(self, name):
        if name not in self.data.known and name not in self.data.times and name not in self.data.counts:
            raise Wrong(f"there is no algorithm {name}; there are {', '.join(self.data.known)}")
        return name

    def _size(self, text, sizes):
        if text in ("least", "most"):
            if not sizes:
                raise Wrong("there is no such row in these runs")
            return sizes[0] if text == "least" else sizes[-1]
        return size(text)

    def _count(self, name, n):
        rows = self.data.counts.get(self._algorithm(name), {})
        n = self._size(n, sorted(rows))
        if n not in rows:
            raise Wrong(
                f"{name} is not counted at n = {runs.power(n)}; it is at {listed(map(runs.power, sorted(rows))) or 'no n'}"
            )
        return rows[n]

    def _time(self, name, n):
        rows = self.data.times.get(self._algorithm(name), {})
        n = self._size(n, sorted(rows))
        if n not in rows:
            raise Wrong(
                f"{name} has no time at n = {runs.power(n)}; it has at {listed(map(runs.power, sorted(rows))) or 'no n'}"
            )
        return rows[n]

    def _known(self, value, what, name):
        if value is None:
            raise Wrong(f"{what} of {name} is not known")
        return value

    # {{n:...}}

    def n_launches(self, a, n):
        """launches A N: kernel launches of one scan"""
        return run_tables.exact(self._known(self._count(a, n)["launches"], "launches", a))

    def n_additions(self, a, n):
        """additions A N: additions of one scan, all digits"""
        return run_tables.exact(self._known(self._count(a, n)["additions"], "additions", a))

    def n_additions_each(self, a, n):
        """additions-each A N: additions for each element"""
        row = self._count(a, n)
        return tabulate.number(self._known(row["additions"], "additions", a) / row["n"])

    def n_steps(self, a, n):
        """steps A N: the longest chain of additions"""
        return run_tables.exact(self._known(self._count(a, n)["steps"], "steps", a))

    def n_conflicts(self, a, n):
        """conflicts A N: bank conflicts of shared memory"""
        return run_tables.exact(self._known(self._count(a, n)["bank_conflicts"], "bank_conflicts", a))

    def n_threads(self, a, n):
        """threads A N: threads launched, all launches together"""
        return run_tables.exact(self._known(self._count(a, n)["threads_launched"], "threads_launched", a))

    def n_words(self, a, n, unit="footprint"):
        """words A N [asked|sectors|footprint]: words of 4 bytes moved for each element"""
        if unit not in ("asked", "sectors", "footprint"):
            raise Wrong(f'"{unit}" is no unit of traffic; there are asked, sectors, footprint')
        return tabulate.number(self._known(run_tables.words(self._count(a, n), unit), unit, a))

    def n_time(self, a, n):
        """time A N: median time of one scan"""
        return tabulate.duration(self._time(a, n)["device_median_s"])

    def n_interval(self, a, n):
        """interval A N: the 95 % interval of that median"""
        row = self._time(a, n)
        return f"{tabulate.duration(run_tables.low(row))} to {tabulate.duration(run_tables.high(row))}"

    def n_gb(self, a, n):
        """gb A N: useful GB/s"""
        return tabulate.number(self._time(a, n)["useful_gb_per_s"]) + " GB/s"

    def n_rate(self, a, n):
        """rate A N: elements a second, in millions"""
        return tabulate.number(self._time(a, n)["elements_per_s"] / 1e6)

    def n_share(self, a, n):
        """share A N: speed as a share of the copy's"""
        return tabulate.number(self._known(self.data.percent_of_copy(self._time(a, n)), "the copy", a), 2) + " %"

    def n_ceiling(self, n):
        """ceiling N: time of the fastest copy of the device"""
        n = self._size(n, self.data.sizes())
        return tabulate.duration(self._known(self.data.ceiling(n), "the copy", runs.power(n)))

    def n_ratio(self, what, a, b, n):
        """ratio WHAT A B N: A over B; WHAT is time, additions, launches, steps, asked, sectors or footprint"""
        if what == "time":
            pair = [self._time(x, n)["device_median_s"] for x in (a, b)]
        elif what in ("additions", "launches", "steps"):
            pair = [self._known(self._count(x, n)[what], what, x) for x in (a, b)]
        elif what in ("asked", "sectors", "footprint"):
            pair = [self._known(run_tables.words(self._count(x, n), what), what, x) for x in (a, b)]
        else:
            raise Wrong(f'no ratio of "{what}"; there are time, additions, launches, steps, asked, sectors, footprint')
        return tabulate.number(pair[0] / pair[1], 2 if pair[0] < 100 * pair[1] else 3)

    def n_growth(self, what, a, few, many):
        """growth WHAT A N M: what WHAT of A at M is as a multiple of that at N (time, additions, launches)"""
        row = self._time if what == "time" else self._count
        column = {"time": "device_median_s", "additions": "additions", "launches": "launches"}.get(what)
        if not column:
            raise Wrong(f'no growth of "{what}"; there are time, additions, launches')
        return tabulate.number(row(a, many)[column] / row(a, few)[column], 2)

    def n_winner(self, a, b, n):
        """winner A B N: the one whose time is wholly lower, or "neither" """
        verdict = self.data.verdict(self._algorithm(a), self._algorithm(b), self._time(a, n)["n"])
        return {-1: self.data.title(a), 1: self.data.title(b)}.get(verdict, "neither")

    def n_crossover(self, a, b):
        """crossover A B: where the two cross, in words"""
        return self._crossing(a, b)

    def _crossing(self, a, b, mode=None):
        lines = self.data.crossings(self._algorithm(a), self._algorithm(b), mode)
        if not lines:
            return "not measured"
        said = []
        for c in lines:
            title = self.data.title
            if c["verdict"] == "crosses":
                near = f"near {run_tables.exact(int(c['n_estimate']))} elements; " if c["n_estimate"] else ""
                said.append(
                    f"between n = {run_tables.elements(c['last_n_below'])} and {run_tables.elements(c['first_n_above'])} "
                    f"({near}above, {title(c['faster_above'])} is the faster one)"
                )
            elif c["verdict"] == "tie":
                said.append("nowhere: no difference was shown")
            else:
                first = c["algorithm_a"] if c["verdict"] == "always-a" else c["algorithm_b"]
                said.append(f"nowhere: {title(first)} is ahead wherever there is a difference")
        return "; ".join(said)

    def n_fastest(self, n):
        """fastest N: the scan with the least median time at N"""
        n = self._size(n, self.data.sizes())
        found = [(self.data.times[a][n]["device_median_s"], a) for a in self.data.scans if n in self.data.times[a]]
        if not found:
            raise Wrong(f"no scan has a time at n = {runs.power(n)}")
        return self.data.title(min(found)[1])

    def n_least(self):
        """least: the least n with times"""
        return run_tables.elements(self._size("least", self.data.sizes()))

    def n_most(self):
        """most: the largest n with times"""
        return run_tables.elements(self._size("most", self.data.sizes()))

    def n_counted_most(self):
        """counted-most: the largest n with counts"""
        return run_tables.elements(self._size("most", self.data.counted_sizes()))

    def n_size(self, n):
        """size N: 2^20 with all its digits"""
        return run_tables.exact(self._size(n, self.data.sizes()))

    def n_power(self, n):
        """power N: 1048576 as a power of two"""
        return run_tables.elements(self._size(n, self.data.sizes()))

    def n_k(self, n):
        """k N: the number of doublings from 1 to N"""
        return str((self._size(n, self.data.sizes()) - 1).bit_length())

    def n_title(self, a):
        """title A: the algorithm's name for people"""
        return self.data.title(self._algorithm(a))

    def n_formula(self, what, a):
        """formula launches|additions|words A: what `scanbench list` says it costs"""
        place = {"launches": 0, "additions": 1, "words": 2}.get(what)
        if place is None or self._algorithm(a) not in self.data.formulas:
            raise Wrong(f'no formula "{what}" of {a}; there are launches, additions, words')
        return self.data.formulas[a][place].replace(" - ", " − ")

    def n_whose(self):
        """whose: the machine of the times"""
        return self.data.whose()

    def n_problem(self):
        """problem: kind, operator, type and mode that are shown"""
        return self.data.of_problem()

    def n_run(self):
        """run: machine and name of the run of times"""
        return f"{self.data.timed.machine}/{self.data.timed.name}" if self.data.timed else "none"

    def n_counts_run(self):
        """counts-run: machine and name of the run of counts"""
        return f"{self.data.counted.machine}/{self.data.counted.name}" if self.data.counted else "none"

    def n_date(self):
        """date: when the times (or counts) were taken"""
        return ((self.data.timed or self.data.counted).header.get("date_utc") or "unknown")[:10]

    def n_machine(self, column):
        """machine COLUMN: a field of machine.csv of the run of times"""
        header = (self.data.timed or self.data.counted).header
        if column not in header:
            raise Wrong(f"machine.csv has no column {column}; it has {', '.join(header)}")
        return header[column] or "unknown"

    def n_l2(self):
        """l2: the L2 cache of the machine of the times"""
        bytes_ = self._header("l2_bytes")
        return tabulate.number(bytes_ / 2**20) + " MiB"

    def n_l2_edge(self):
        """l2-edge: the largest n, of powers of two, whose input and output fit in the L2"""
        width = {"i32": 4, "f32": 4, "i64": 8, "f64": 8}[self.data.problem[1]]
        return f"2^{int(self._header('l2_bytes') // (2 * width)).bit_length() - 1}"

    def n_peak(self):
        """peak: the memory's GB/s by its data"""
        return tabulate.number(self._header("peak_gb_per_s")) + " GB/s"

    def n_copied(self):
        """copied: the GB/s of a copy on the machine of the times"""
        return tabulate.number(self._header("copy_gb_per_s")) + " GB/s"

    def n_empty_kernel(self):
        """empty-kernel: time of a kernel that does nothing"""
        return tabulate.duration(self._header("empty_kernel_s"))

    def n_best_gb(self):
        """best-gb: the highest useful GB/s of a scan, and where"""
        a, row = self._best()
        return f"{tabulate.number(row['useful_gb_per_s'])} GB/s ({self.data.title(a)}, n = {runs.power(row['n'])})"

    def n_transfer(self, n):
        """transfer N: time to bring N elements to the GPU and back, from the rates in machine.csv"""
        n = self._size(n, self.data.sizes())
        width = {"i32": 4, "f32": 4, "i64": 8, "f64": 8}[self.data.problem[1]]
        return tabulate.duration(n * width / 1e9 * (1 / self._header("h2d_gb_per_s") + 1 / self._header("d2h_gb_per_s")))

    def n_floor(self, a):
        """floor A: time at the least n"""
        if a not in self.data.times:
            raise Wrong(f"{a} has no time in this run")
        return tabulate.duration(run_tables.floor_and_plateau(self.data, a)[0])

    def n_plateau(self, a):
        """plateau A: useful GB/s at the largest n"""
        if a not in self.data.times:
            raise Wrong(f"{a} has no time in this run")
        return tabulate.number(run_tables.floor_and_plateau(self.data, a)[2]) + " GB/s"

    def n_rows(self):
        """rows: how many points have a time"""
        return str(len(runs.timed(self.data.timed.rows)) if self.data.timed else 0)

    def n_doubtful(self):
        """doubtful: how many of these are not `ok`"""
        return str(sum(r["status"] != "ok" for r in runs.timed(self.data.timed.rows)) if self.data.timed else 0)

    def n_samples(self):
        """samples: the least and the most samples of a median"""
        found = [r["samples"] for r in runs.timed(self.data.timed.rows) if r["samples"]]
        return f"{min(found)} to {max(found)}"

    def n_model_gpu(self):
        """model-gpu: the GPU that the cost model speaks of"""
        return self._model().title

    def n_model_time(self, a, n):
        """model-time A N: the modelled time; where it is a prediction, it says so"""
        return tabulate.duration(self._modelled(a, n)[3]) + self._said()

    def n_model_share(self, part, a, n):
        """model-share launches|l2|memory|steps A N: what part of the modelled time goes there"""
        keys = {"launches": ("first", "launch"), "l2": ("l2",), "memory": ("dram",), "steps": ("step",)}.get(part)
        if not keys:
            raise Wrong(f'no part "{part}" of the bill; there are launches, l2, memory, steps')
        row = self._modelled(a, n)
        return tabulate.number(100 * sum(row[2][k] for k in keys) / row[3], 2) + " %" + self._said()

    def n_model_crossover(self, a, b):
        """model-crossover A B: where the model has the two cross"""
        import cost_model

        found = [
            c
            for c in cost_model.crossovers(self._model())
            if {c[0], c[1]} == {self._algorithm(a), self._algorithm(b)} and c[3]
        ]
        if not found:
            return "nowhere in range" + self._said()
        return (
            ", ".join(f"at n = {run_tables.elements(c[3])}, above which {self.data.title(c[4])} is faster" for c in found)
            + self._said()
        )

    def n_published_time(self, a, n, *gpu):
        """published-time A N GPU: a time that others published; place published-source beside it"""
        return tabulate.duration(self._published(a, gpu)[self._size(n, [])])

    def n_published_ratio(self, a, b, n, *gpu):
        """published-ratio A B N GPU: published time of A over that of B"""
        n = self._size(n, [])
        return tabulate.number(self._published(a, gpu)[n] / self._published(b, gpu)[n], 2)

    def n_published_crossover(self, a, b, *gpu):
        """published-crossover A B GPU: powers of two between which A, first faster, is last overtaken by B"""
        one, other = self._published(a, gpu), self._published(b, gpu)
        both = sorted(n for n in one if n in other and n & (n - 1) == 0)
        last = max((n for n in both if one[n] < other[n]), default=None)
        above = min((n for n in both if last and n > last), default=None)
        if not above:
            raise Wrong(f"in the published timings of {' '.join(gpu)} {b} does not overtake {a} for good")
        return f"{run_tables.elements(last)} and {run_tables.elements(above)}"

    def n_published_source(self, *gpu):
        """published-source GPU: who published these timings"""
        return (
            ", ".join(sorted({r["source"] for r in self._timings() if r["gpu"] == " ".join(gpu) and r["judged"] == "clean"}))
            or "nobody"
        )

    def n_published_l2(self, *gpu):
        """published-l2 GPU: its L2 cache, by scripts/machines.csv"""
        import cost_model

        return tabulate.number(cost_model.machine(" ".join(gpu))["l2_bytes"] / 2**20) + " MiB"

    def _timings(self):
        if self.timings is None:
            path = os.path.join(runs.HERE, "results/published/timings.csv")
            self.timings = (
                runs.table(path, ["gpu", "algorithm", "n", "time_s", "judged", "source"], names=True)
                if os.path.exists(path)
                else []
            )
        return self.timings

    def _published(self, a, gpu):
        """{n: seconds} of the clean timings of one GPU."""
        found = {
            int(r["n"]): float(r["time_s"])
            for r in self._timings()
            if r["gpu"] == " ".join(gpu) and r["algorithm"] == a and r["judged"] == "clean"
        }
        if not found:
            raise Wrong(f"results/published/timings.csv has no clean timings of {a} on {' '.join(gpu) or 'no GPU'}")
        return found

    def _model(self):
        if self.model is None:
            try:
                import cost_model
            except ImportError:
                raise Wrong("there is no cost model here (scripts/cost_model.py)") from None
            try:
                self.model = cost_model.model_of(self.data.timed)
            except BadInput as problem:
                raise Wrong(f"no cost model of these runs: {problem}") from problem
        return self.model

    def _said(self):
        return "" if self._model().kind == "fitted" else " (PREDICTION)"

    def _modelled(self, a, n):
        rows = {row[1]: row for row in self._model().rows if row[0] == self._algorithm(a)}
        n = self._size(n, sorted(rows))
        if n not in rows:
            raise Wrong(
                f"the cost model has no {a} at n = {runs.power(n)}; it has {listed(map(runs.power, sorted(rows))) or 'no n'}"
            )
        return rows[n]

    def _header(self, column):
        text = (self.data.timed or self.data.counted).header.get(column)
        if not text:
            raise Wrong(f"machine.csv of this run has no {column}")
        return float(text)

    def _best(self):
        return max(
            ((a, r) for a in self.data.scans for r in self.data.times[a].values() if r["device"] != "host"),
            key=lambda p: p[1]["useful_gb_per_s"],
            default=(None, None),
        )

    # {{if ...}}

    def if_gpu(self):
        """gpu: the times are those of a GPU, not of the CPU device or of a simulated clock"""
        return bool(self.data.timed and self.data.timed.gpu and not self.data.timed.simulated)

    def if_timed(self):
        """timed: there is a run of times"""
        return bool(self.data.timed)

    def if_counted(self):
        """counted: there is a run of counts"""
        return bool(self.data.counted)

    def if_figure(self, name):
        """figure NAME: there is such a figure"""
        return name in self.drawn

    def if_table(self, name):
        """table NAME: there is such a table"""
        return name in self.found

    def if_has(self, a, n=None):
        """has A [N]: the algorithm has a time (at N)"""
        rows = self.data.times.get(a, {})
        return size(n) in rows if n and n not in ("least", "most") else bool(rows)

    def if_counts(self, a, n=None):
        """counts A [N]: the algorithm is counted (at N)"""
        rows = self.data.counts.get(a, {})
        return size(n) in rows if n and n not in ("least", "most") else bool(rows)

    def if_slower(self, a, b, n):
        """slower A B N: A is wholly slower than B"""
        rows = self.data.times.get(a, {})
        n = self._size(n, sorted(rows)) if rows else 0
        return self.data.verdict(a, b, n) == 1

    def if_crosses(self, a, b):
        """crosses A B: there is a crossing in the range measured"""
        return any(c["verdict"] == "crosses" for c in self.data.crossings(a, b))

    def if_model(self):
        """model: there is a cost model of these runs, fitted or a prediction"""
        try:
            return bool(self._model())
        except Wrong:
            return False

    def if_fitted(self):
        """fitted: the cost model is fitted to these times"""
        return self.if_model() and self._model().kind == "fitted"

    def if_published(self, *gpu):
        """published GPU: others have published clean timings of it"""
        return self.n_published_source(*gpu) != "nobody"

    def if_modes(self):
        """modes: more than one way of launching or state of the caches was measured"""
        return len(self.data.modes) > 1

    def if_known(self, column):
        """known COLUMN: machine.csv of the run of times has it"""
        return bool((self.data.timed or self.data.counted).header.get(column))

    def if_above_peak(self):
        """above-peak: a scan reaches more useful GB/s than the memory's data allow"""
        _, row = self._best() if self.data.timed else (None, None)
        header = self.data.timed.header if self.data.timed else {}
        return bool(row and header.get("peak_gb_per_s") and row["useful_gb_per_s"] > float(header["peak_gb_per_s"]))


def listed(items):
    items = list(items)
    return ", ".join(items if len(items) < 9 else [*items[:3], "...", *items[-2:]])


def method(values, prefix, word):
    return getattr(values, prefix + word.replace("-", "_"), None)


def offered(values, prefix):
    names = [m for m in dir(values) if m.startswith(prefix)]
    return [getattr(values, m).__doc__.strip() for m in sorted(names)]
