# SPDX-License-Identifier: MIT
"""Reads result files for the tools in Python: runs of times, runs of counts, and what machine they are of.

results.csv is checked by `scanbench crossover`, the one reader that knows every rule of it; so a file that cannot be
used gives one line with its name, the line and what to do. Nothing here is guessed: a field that is empty is None.

A tool calls `main(tool, function)`: it turns BadInput into that line and the exit status 2.
"""

import csv
import glob
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.environ.get("RESULTS", "results")
SCANBENCH = os.environ.get("SCANBENCH", os.path.join(HERE, "scanbench"))
NAMES = {"run", "machine", "device", "algorithm", "kind", "type", "op", "launch", "cache", "status", "detail", "flags",
         "additions_how", "model_agrees", "kernel", "clock", "algorithm_a", "algorithm_b", "faster_below", "faster_above", "verdict"}


class BadInput(Exception):
    """What is wrong, where, and what to do, in one line."""


@dataclass
class Run:
    """One folder results/MACHINE/RUN."""

    folder: str
    name: str  # YYYYMMDD-HHMMSS, UTC
    machine: str
    header: dict = field(default_factory=dict)  # machine.csv: text, None where unknown
    rows: list = field(default_factory=list)  # results.csv: a dict a row; numbers are int or float
    counts: list = field(default_factory=list)  # counts.csv
    crossings: list = field(default_factory=list)  # crossovers.csv

    @property
    def device(self):
        """`cuda` or `cpu`: what the run's kernels ran on; None for one of host algorithms alone."""
        return next((row["device"] for row in self.rows if row["device"] != "host"), None)

    @property
    def simulated(self):
        return self.header.get("simulated") not in (None, "0")

    @property
    def gpu(self):
        """The name of the GPU whose times these are, or None: the CPU device and a simulated clock have none."""
        return self.header.get("gpu_name") if self.device == "cuda" else None

    @property
    def title(self):
        """For people: the GPU, or the CPU and what stands in for a GPU."""
        cpu = self.header.get("host_cpu") or self.machine
        if self.gpu:
            return self.gpu
        return cpu + (", SIMULATED CLOCK" if self.simulated else ", CPU device" if self.device == "cpu" else "")


def scanbench(*arguments):
    """The standard output of the built program; its one line on stderr becomes BadInput."""
    program = SCANBENCH if os.path.exists(SCANBENCH) else os.path.join(HERE, "build/cpu/scanbench")
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise BadInput(f"{program}: {error.strerror}; `make` builds it") from error
    if done.returncode:
        raise BadInput(re.sub(r"^scanbench( \w+)?: ", "", done.stderr.strip().split("\n")[0]))
    return done.stdout


def value(column, text, where):
    if text == "":
        return None
    if column in NAMES:
        return text
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        raise BadInput(f"{where}: {column} is \"{text[:40]}\", not a number; restore the file as it was written") from None


def table(path, needed, text=None, names=False):
    """The rows of a CSV as dicts, in the file's order. `needed`: columns it must have. `names`: all fields are text."""
    if text is None:
        try:
            with open(path, encoding="ascii", newline="") as file:
                text = file.read()
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}; name the folder of a run, results/MACHINE/RUN") from error
        except UnicodeDecodeError as error:
            raise BadInput(f"{path}: a byte that is not ASCII, at {error.start}; restore the file as it was written") from error
    if not text:
        raise BadInput(f"{path}: the file is empty; remove the run or measure again")
    if not text.endswith("\n"):
        raise BadInput(f"{path}:{text.count(chr(10)) + 1}: the last line is torn (no end of line); remove it")
    lines = csv.reader(io.StringIO(text), quoting=csv.QUOTE_NONE)
    header = next(lines)
    for column in needed:
        if column not in header:
            raise BadInput(f"{path}:1: no column {column}; restore the file as it was written")
    rows = []
    for number, fields in enumerate(lines, 2):
        if len(fields) != len(header):
            raise BadInput(f"{path}:{number}: {len(fields)} fields, but the header has {len(header)} (a torn line, or a "
                           "decimal comma?); remove the line or restore the file")
        where = f"{path}:{number}"
        row = {c: (f or None) if names else value(c, f, where) for c, f in zip(header, fields)}
        if "schema" in row and str(row["schema"]) != "1":
            raise BadInput(f"{where}: schema is \"{row['schema']}\", but this scanbench reads 1; use the one that wrote the file")
        rows.append(row)
    return rows


def read(folder):
    """The run in `folder`: results/MACHINE/RUN."""
    folder = folder.rstrip("/")
    if not os.path.isdir(folder):
        raise BadInput(f"{folder}: no such folder; name the folder of a run, results/MACHINE/RUN")
    rows_at, counts_at, header_at = (os.path.join(folder, name) for name in ("results.csv", "counts.csv", "machine.csv"))
    run = Run(folder, os.path.basename(folder), os.path.basename(os.path.dirname(os.path.abspath(folder))))
    if os.path.exists(header_at):
        headers = table(header_at, ["schema", "run", "machine"], names=True)
        if len(headers) != 1:
            raise BadInput(f"{header_at}: {len(headers)} rows, not one; restore the file as it was written")
        run.header = headers[0]
        run.name, run.machine = run.header["run"] or run.name, run.header["machine"] or run.machine
    if not os.path.exists(rows_at) and not os.path.exists(counts_at):
        part = next((p for p in (rows_at + ".part", counts_at + ".part") if os.path.exists(p)), None)
        raise BadInput(f"{folder}: " + ("the run is not complete; `scanbench bench --resume` finishes it" if part
                                        else "neither results.csv nor counts.csv; name the folder of a run"))
    if os.path.exists(rows_at):
        crossings = scanbench("crossover", folder)
        run.rows = table(rows_at, ["algorithm", "n", "device_median_s"])
        if not run.rows:
            raise BadInput(f"{rows_at}: a header and no rows; remove the run or measure again")
        run.crossings = table(rows_at, ["algorithm_a"], text=crossings)
    if os.path.exists(counts_at):
        run.counts = table(counts_at, ["algorithm", "n", "launches", "model_agrees"])
        if not run.counts:
            raise BadInput(f"{counts_at}: a header and no rows; remove the run or count again")
    return run


def order(folder):
    """A run's time and its number among those of the same second: -2, -3 ..."""
    part = os.path.basename(folder).split("-")
    return part[0], part[1] if len(part) > 1 else "", int(part[2]) if len(part) > 2 and part[2].isdigit() else 1


def folders(machine=None, having="results.csv"):
    """Complete runs that have such a file, newest first."""
    found = glob.glob(os.path.join(glob.escape(RESULTS), glob.escape(machine) if machine else "*", "*", having))
    return sorted((os.path.dirname(path) for path in found), key=order, reverse=True)


def choose(run=None, machine=None, having="results.csv"):
    """The folders that RUN= and MACHINE= mean: a path of a run or a machine, or a run's name; else the newest of each machine."""
    if run and os.path.isdir(run):
        run = run.rstrip("/")
        inside = sorted((os.path.dirname(p) for p in glob.glob(os.path.join(glob.escape(run), "*", having))), key=order)
        return inside[-1:] or [run]  # a machine's folder means its newest run
    found = [f for f in folders(machine, having) if not run or os.path.basename(f) == run]
    newest = {}
    for folder in found:
        newest.setdefault(os.path.dirname(folder), folder)
    return list(newest.values())


def timed(rows):
    """Rows with a right answer and a time. A wrong answer has none, nor has what was not run."""
    return [row for row in rows if row["status"] in ("ok", "unstable", "throttled") and row["device_median_s"]]


def algorithms():
    """What `scanbench list` knows, in list order: {name: {"title": ..., "runs_on": ..., "kinds": ...}}."""
    known = {}
    for line in scanbench("list").split("\n\n")[0].splitlines()[1:]:
        name, title, runs_on, kinds = (re.split(r"  +", line) + [""] * 4)[:4]
        known[name] = {"title": title, "runs_on": runs_on, "kinds": kinds}
    return known


def write(path, text):
    """The file as a whole or not at all: no half of it is left behind."""
    part = path + ".part"
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(part, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        if os.path.exists(part):
            os.unlink(part)
        raise BadInput(f"{path}: {error.strerror}; nothing was written") from error


def power(n):
    """65536 -> "2^16"; other numbers as they are."""
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else f"{n}"


def main(tool, function):
    """Runs function(arguments), whose return value is the exit status."""
    try:
        sys.exit(function(sys.argv[1:]) or 0)
    except BadInput as problem:
        print(f"scanbench {tool}: {problem}", file=sys.stderr)
        sys.exit(2)
    except ModuleNotFoundError as missing:
        print(f"scanbench {tool}: no {missing.name} for {sys.executable}; `make deps` installs it", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
