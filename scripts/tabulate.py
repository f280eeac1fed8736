# SPDX-License-Identifier: MIT
"""A table once, in every form it is wanted in: Markdown, LaTeX (booktabs), HTML, CSV.

Cells are text or numbers. Text is plain: whatever a format gives a meaning to is written so that it shows as it is.
`$...$`-like notation has no place here; 2^16 becomes a power in LaTeX and HTML by itself.
"""

import html
import re
import textwrap
from dataclasses import dataclass, field


@dataclass
class Table:
    name: str  # slug: the file's name, and how a handout places it
    caption: str
    columns: list  # headings
    rows: list = field(default_factory=list)  # lists of cells, as long as columns; None is an empty cell
    note: str = ""  # below the table: units, where it is from
    left: int = 1  # so many columns are aligned to the left, the others to the right
    machine: str = ""  # what it was measured on, or what is predicted

    def cells(self):
        return [["" if cell is None else str(cell) for cell in row] for row in self.rows]

    def markdown(self):
        """A pipe table, its columns aligned for whoever reads the source."""
        rows = [[_markdown(c) for c in row] for row in [self.columns, *self.cells()]]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.columns))]
        def line(row):
            return "| " + " | ".join(c.ljust(w) if i < self.left else c.rjust(w)
                                     for i, (c, w) in enumerate(zip(row, widths))) + " |"
        rule = "|" + "|".join("-" * (w + 2) if i < self.left else "-" * (w + 1) + ":" for i, w in enumerate(widths)) + "|"
        text = "\n".join([line(rows[0]), rule, *map(line, rows[1:])])
        return text + f"\n\n: {_markdown(self.caption)}\n" + (f"\n{_markdown(self.note)}\n" if self.note else "")

    def latex(self):
        """For a document with booktabs, array and longtable: wide tables are broken into lines, long ones into pages."""
        return _for_page(self)

    def simple_latex(self):
        """A table environment for booktabs alone."""
        align = "l" * self.left + "r" * (len(self.columns) - self.left)
        body = [" & ".join(map(latex_text, row)) + r" \\" for row in self.cells()]
        return "\n".join([r"\begin{table}", r"  \centering", f"  \\caption{{{latex_text(self.caption)}}}", f"  \\label{{tab:{self.name}}}",
                          f"  \\begin{{tabular}}{{{align}}}", r"    \toprule",
                          "    " + " & ".join(latex_text(c) for c in self.columns) + r" \\", r"    \midrule",
                          *("    " + line for line in body), r"    \bottomrule", r"  \end{tabular}",
                          *([f"  \\par\\smallskip\\footnotesize {latex_text(self.note)}"] if self.note else []), r"\end{table}", ""])

    def html(self):
        head = "".join(f'<th scope="col"{self._class(i)}>{_html(c)}</th>' for i, c in enumerate(self.columns))
        lines = ["<figure class=\"table\">", f"<table id=\"{self.name}\">", f"<caption>{_html(self.caption)}</caption>",
                 f"<thead><tr>{head}</tr></thead>", "<tbody>"]
        for row in self.cells():
            cells = "".join(f'<th scope="row">{_html(c)}</th>' if i == 0 else f"<td{self._class(i)}>{_html(c)}</td>"
                            for i, c in enumerate(row))
            lines.append(f"<tr>{cells}</tr>")
        lines += ["</tbody>", "</table>", *([f"<figcaption>{_html(self.note)}</figcaption>"] if self.note else []), "</figure>", ""]
        return "\n".join(lines)

    def csv(self):
        return "".join(",".join(cell.replace(",", " ") for cell in row) + "\n" for row in [self.columns, *self.cells()])

    def _class(self, i):
        return "" if i < self.left else ' class="number"'


def _markdown(text):
    return re.sub(r"([\\`*_|<>\[\]#^~$])", r"\\\1", text).replace("\\^", "\\^")


LATEX = {"\\": r"\textbackslash{}", "_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
         "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}", "×": r"$\times$", "→": r"$\to$", "≥": r"$\ge$",
         "≤": r"$\le$", "−": r"$-$", "µ": r"\textmu{}", "…": r"\dots{}", "±": r"$\pm$"}


def latex_text(text):
    parts = re.split(r"(\d+\^[\d.]+)", text)
    for i, part in enumerate(parts):
        if i % 2:
            base, exponent = part.split("^")
            parts[i] = f"${base}^{{{exponent}}}$"
        else:
            parts[i] = "".join(LATEX.get(c, r"\textasciicircum{}" if c == "^" else c) for c in part)
    return "".join(parts)


def _for_page(table):
    """The table for a document with booktabs, array, longtable: long text is broken into lines, a long table into pages."""
    text = table.simple_latex()
    cells = table.cells()
    widths = [max([len(c)] + [len(r[i]) for r in cells]) for i, c in enumerate(table.columns)]
    size = ""
    if sum(widths) > 80:
        size = "\\footnotesize" if sum(widths) < 140 else "\\scriptsize"
        heads = []
        for i, head in enumerate(table.columns):  # a heading longer than its numbers takes two or three lines
            longest = max((len(r[i]) for r in cells), default=0)
            lines = textwrap.wrap(head, max(9, longest)) if len(head) > max(9, longest) else [head]
            widths[i] = max(longest, *map(len, lines))
            lines = [latex_text(line) for line in lines]
            heads.append(
                lines[0]
                if len(lines) == 1
                else f"\\shortstack[{'l' if i < table.left else 'r'}]{{" + r" \\ ".join(lines) + "}"
            )
        text = text.replace(" & ".join(latex_text(c) for c in table.columns), " & ".join(heads), 1)
        # Columns of text share what those of numbers leave over; a number takes about a hundredth of the line.
        broken = [i for i, w in enumerate(widths) if w > 12 and not all(re.match(r"[-\d]|none|$", r[i]) for r in cells)]
        if broken:
            room = max(0.35, 0.93 - 0.0105 * sum(w + 1 for i, w in enumerate(widths) if i not in broken))
            share = {i: min(widths[i], 60) for i in broken}
            spec = "".join(
                (
                    f">{{\\raggedright\\arraybackslash}}p{{{room * share[i] / sum(share.values()):.3f}\\linewidth}}"
                    if i in share
                    else "l" if i < table.left else "r"
                )
                for i in range(len(widths))
            )
            text = re.sub(r"(\\begin\{tabular\})\{[lr]+\}", lambda m: f"{m[1]}{{{spec}}}", text, count=1)
            text = re.sub(r"(?<=[a-z])(\+|\\_)(?=[a-z])", r"\1\\allowbreak{}", text)
        size += "\\setlength{\\tabcolsep}{3pt}"
    if len(cells) <= 40:
        return text.replace("  \\centering", "  \\centering" + size, 1)
    spec = re.search(r"\\begin\{tabular\}\{(.*)\}", text)[1]
    head, body = re.search(r"\\toprule\n(.*)\\midrule\n(.*)    \\bottomrule", text, re.S).groups()
    caption = re.search(r"  (\\caption\{.*\})\n  (\\label\{.*\})", text)
    note = re.search(r"  (\\par\\smallskip.*)", text)
    return (
        f"{{{size or chr(92) + 'footnotesize'}\n\\begin{{longtable}}{{{spec}}}\n  {caption[1]}{caption[2]} \\\\\n    \\toprule\n{head}"
        f"\\midrule\n    \\endhead\n    \\bottomrule\n    "
        f"\\endfoot\n{body}\\end{{longtable}}\n{note[1] if note else ''}\n}}\n"
    )


def _html(text):
    return re.sub(r"(\d+)\^([\d.]+)", r"\1<sup>\2</sup>", html.escape(text, quote=False))


def number(x, digits=3):
    """Three significant digits, no exponent between 0.001 and 10 million: 1234567 -> "1 230 000", 0.01234 -> "0.0123"."""
    if x is None:
        return None
    if x == 0:
        return "0"
    text = f"{x:.{digits}g}"
    if "e" in text and 1e-4 <= abs(x) < 1e15:
        text = f"{float(text):.0f}" if abs(x) >= 1 else f"{float(text):.7f}".rstrip("0")
    whole, dot, rest = text.partition(".")
    if len(whole.lstrip("-")) > 4:
        whole = f"{int(whole):,}".replace(",", " ")
    return whole + dot + rest


def duration(seconds):
    """0.0000123 -> "12.3 us"."""
    if seconds is None:
        return None
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1)):
        if seconds < 999.5 * scale or unit == "s":
            return f"{number(seconds / scale)} {unit}"
    return None
