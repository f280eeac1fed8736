# SPDX-License-Identifier: MIT
"""Traces of a handout, from what `scanbench trace --markdown` prints: as a table, and as a drawing of who goes where.

A drawing needs rows in which each cell takes what one or two cells of the row above held; other traces (with arrays in
between, or values of several steps) have none.
"""

import html
import re

STEP, WIDE, HIGH = 82, 44, 30  # from row to row; a cell


class NoDrawing(Exception):
    """Why a trace cannot be drawn."""


def read(path):
    """(headings, rows) of the table in the file."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    rows = [[c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("|")]
    return rows[0], rows[2:]


def plain(text):
    return re.sub(r"[`*\\]", "", text)


def table(name, path, title, caption):
    """The table as HTML: what a launch changed stands out."""
    heads, rows = read(path)

    def code(text):
        text = html.escape(re.sub(r"\\(.)", r"\1", text), quote=False)
        text = re.sub(r"`([^`]*)`", lambda m: f"<code>{m[1]}</code>", text)
        return text.replace("&lt;br&gt;", "<br>").replace("&lt;-", "←").replace("-&gt;", "→")

    def cell(row, i):
        new = re.fullmatch(r"\*\*(.*)\*\*", row[i])
        if i == 0:
            return f'<th scope="row">{code(row[0]) or ("input" if row[1] == "`in`" else "result")}</th>'
        if i == 1 or i == len(row) - 1:
            return f"<td>{code(row[i])}</td>"
        return (
            f'<td class="cell new"><strong>{code(new[1])}</strong></td>' if new else f'<td class="cell">{code(row[i])}</td>'
        )

    body = "\n".join("<tr>" + "".join(cell(row, i) for i in range(len(row))) + "</tr>" for row in rows)
    head = "".join(
        f'<th scope="col"{" class=cell" if 2 <= i < len(heads) - 1 else ""}>{code(h)}</th>' for i, h in enumerate(heads)
    )
    return (
        f'<figure class="table whole" id="trace-{name}">\n<div class="caption">{caption}</div>\n'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Trace of {html.escape(title)}"><table class="trace">\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n</figure>"
    )


def sources(said, cells):
    """{cell: ([cells it is made of], is it a sum?)} of one row's last column: `[i] <- [i-2] + [i]`, i = 2..7<br>..."""
    found = {}
    for part in said.split("<br>"):
        match = re.fullmatch(r"`(.*?)`(?:, (.*))?", part)
        if not match:
            raise NoDrawing(f'"{plain(part)}" is not drawn')
        rule, whom = match.groups()
        if rule.endswith(" cleared"):
            rule = rule.replace(" cleared", " <- 0")
        target, made_of = rule.split(" <- ")
        if not whom:
            chosen = [int(target.strip("[]"))]
        elif whom == "all i":
            chosen = list(range(cells))
        elif whom == "all other i":
            chosen = [i for i in range(cells) if i not in found]
        else:
            first = re.fullmatch(r"i = (\d+)\.\.(\d+)", whom)
            chosen = list(range(int(first[1]), int(first[2]) + 1)) if first else [int(i) for i in re.findall(r"\d+", whom)]
        for i in chosen:
            places = []
            for term in made_of.split(" + "):
                place = re.fullmatch(r"\[(?:(i)([-+]\d+)?|(\d+))\]", term)
                if place:
                    places.append(int(place[3]) if place[3] else i + int(place[2] or 0))
                elif term != "0":
                    raise NoDrawing(f'"{term}" is not drawn')
            found[i] = places, " + " in made_of
    return found


def drawing(path, title):
    """(SVG, alt text): a row of cells a launch, and lines from what each cell is made of."""
    heads, rows = read(path)
    cells = len(heads) - 3
    left = 150

    def middle(i):
        return left + WIDE + i * 80

    lines, boxes, told = [], [], []
    if rows[0][1] != "`in`":
        raise NoDrawing("its first row is not the input")
    for r, row in enumerate(rows):
        if any(c == "" for c in row[2:-1]):
            raise NoDrawing("it has cells that are not shown")
        y = 24 + r * STEP
        made = sources(row[-1], cells) if r else {}
        for i in range(cells):
            value, new = plain(row[2 + i]), row[2 + i].startswith("**")
            come, sums = made.get(i, ([i] if r else [], False))
            for j in come:
                moves = not sums and j != i
                colour, width, dash = (
                    ("#0072b2", 2, "") if sums else ("#8a5a00", 1.6, "6 4") if moves else ("#bbbbbb", 1, "")
                )
                ends = f'x1="{middle(j)}" y1="{y - STEP + HIGH / 2:g}" x2="{middle(i)}" y2="{y - HIGH / 2:g}"'
                dash = f' stroke-dasharray="{dash}"' if dash else ""
                lines.append(f'<line {ends} stroke="{colour}" stroke-width="{width}"{dash}/>')
            boxes.append(
                f'<rect x="{middle(i) - WIDE / 2:g}" y="{y - HIGH / 2:g}" width="{WIDE}" height="{HIGH}" rx="4" '
                f'fill="{"#ffe3a8" if new else "#ffffff"}" stroke="{"#1b1b1f" if new else "#999999"}"/>'
                f'<text x="{middle(i)}" y="{y + 5.5:g}" text-anchor="middle" font-size="16"'
                + (' font-weight="bold"' if new else "")
                + f">{html.escape(value)}</text>"
            )
        name = plain(row[0]) or ("input" if r == 0 else "result")
        boxes.append(f'<text x="8" y="{y + 5:g}" font-size="14" fill="#333333">{html.escape(name.replace("_", " "))}</text>')
        sums = sum(is_sum for _, is_sum in made.values())
        told.append(
            f"{name}: {' '.join(plain(c) for c in row[2:-1])}"
            + (f" ({sums} additions)" if sums > 1 else " (one addition)" if sums else "")
        )
    height, width = 24 * 2 + (len(rows) - 1) * STEP, middle(cells - 1) + WIDE
    picture = (
        f'<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif">'
        f'<rect x="0" y="0" width="{width}" height="{height}" fill="#ffffff"/>' + "".join(lines + boxes) + "</svg>"
    )
    return picture, f"{title}, drawn as a row of cells for each launch. " + "; ".join(told) + "."
