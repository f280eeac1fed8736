# SPDX-License-Identifier: MIT
"""Draws figures of the tools in Python with gnuplot, in the style of all charts (scripts/style.gp).

A figure is a file scripts/CHART.gp that loads style.gp, and here its data. Nothing is left of a figure that could not be
drawn.
"""

import os
import re
import shutil
import subprocess
import tempfile

from runs import HERE, BadInput

FORMATS = ("svg", "pdf", "png")


def quoted(text):
    """A string for gnuplot: nothing in it is expanded, and nothing is not ASCII."""
    return "'" + re.sub(r'[^ -~]|["\\`]', "", str(text)).replace("'", "''") + "'"


def block(title, rows):
    """One `index` of a data file: its title on the first line, then numbers; None is missing."""
    return quoted(title).replace("'", '"') + "\n" + "".join(
        " ".join("NaN" if x is None else f"{x:.9g}" if isinstance(x, (int, float)) else str(x) for x in row) + "\n" for row in rows)


def draw(chart, target, blocks, texts=(), settings=None, date="20000101000000", extra=None):
    """Draws scripts/CHART.gp as TARGET.svg, .pdf and .png.

    blocks: [(title, [(n, value, ...), ...]), ...]: the `index`es of the data.
    texts: up to four lines above the frame: heading, whose, problem, what.
    settings: further variables of the chart's script: numbers, or text. The defaults of style.gp's own come from the
        blocks: styles 1, 2, ..., least and most n, lowest and highest value.
    date: 14 digits, of the run: they stand in the PDF as its date.
    extra: {suffix: text} of further data files beside NAME.dat.
    """
    if not shutil.which("gnuplot"):
        raise BadInput("charts are drawn by gnuplot, which is not here; `make deps` installs it")
    points = [row for _, rows in blocks for row in rows if len(row) > 1 and isinstance(row[0], (int, float)) and row[1] is not None]
    heading, whose, problem, what = (list(texts) + [""] * 4)[:4]
    said = {"heading": heading, "whose": whose, "problem": problem, "what": what, "note": "",
            "styles": " ".join(str(i + 1) for i in range(len(blocks))),
            "least": min((p[0] for p in points), default=1), "most": max((p[0] for p in points), default=1),
            "lowest": min((p[1] for p in points), default=1), "highest": max((p[1] for p in points), default=1),
            "uncertain": 0, "flags": 0, "hollow_points": "unstable", **(settings or {})}
    folder = os.path.dirname(target) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        work = tempfile.mkdtemp(prefix=".drawing.", dir=folder)
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror}") from error
    name = os.path.join(os.path.abspath(work), "figure")
    try:
        with open(name + ".gp", "w", encoding="ascii") as file:
            file.writelines(f"{k} = {quoted(v) if isinstance(v, str) else v}\n" for k, v in said.items())
        with open(name + ".dat", "w", encoding="ascii") as file:
            file.write("\n\n".join(block(title, rows) for title, rows in blocks))
        for suffix, text in (extra or {}).items():
            with open(f"{name}.{suffix}", "w", encoding="ascii") as file:
                file.write(text)
        done = subprocess.run([os.path.join(HERE, "scripts/draw"), chart, name, date], capture_output=True, text=True, check=False)
        if done.returncode:
            raise BadInput(f"{target} could not be drawn: {(done.stderr.strip() or 'a full disk?').splitlines()[-1]}")
        for suffix in FORMATS:
            os.replace(f"{name}.{suffix}", f"{target}.{suffix}")
    except OSError as error:
        raise BadInput(f"{target} could not be drawn: {error.strerror}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def date_of(run):
    """The 14 digits of a run's name, or of no run."""
    digits = re.sub(r"\D", "", run.name[:15])
    return digits if len(digits) == 14 else "20000101000000"
