#!/usr/bin/env python3
"""Fills the tables of Markdown pages from the CSV files of bench/results.

    bench/pages.py [PAGE.md ...]            fills the tables; without pages, those of README.md and docs/
    bench/pages.py --check [PAGE.md ...]    changes nothing; fails where a page differs from its CSV

A table stands between two marks, which do not show where the page is rendered:

    <!-- table: MACHINE/FILE.csv COLUMN ... -->
    | generated | rows |
    <!-- end table -->

Each word after the file is one of these; a word with spaces stands in double quotes:

    column                  a column, under its own name and with the file's own digits
    column=Heading          under a heading
    column=Heading:FORMAT   with a format of Python: `.2f`, `,.0f`, `.1e`
    column=Heading:FORMAT*N with its numbers times N first, such as 1e3 for seconds to milliseconds
    where:column=value      only rows with that value; `a|b` for either
    sort:column             rows by a column, numbers as numbers; `sort:-column` from the largest on
    rows:N                  the first N rows of those

Without a column, all of them. A column whose cells are all numbers is aligned to the right. An empty
cell becomes a dash. What is asked for and not there is an error: no table is silently empty.
"""

import csv
import difflib
import re
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
BEGIN = re.compile(r"^<!-- table: (?P<words>.*?) -->$")
END = "<!-- end table -->"


class Fault(Exception):
    """What is wrong with a page or a CSV file, with its place."""


def number(text):
    """Returns the number that a cell holds, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def read(name):
    """Returns the columns and the rows of a CSV file; lines that begin with # are remarks."""
    path = (RESULTS / name).resolve()
    if not path.is_relative_to(RESULTS) or not path.is_file():
        raise Fault(f"bench/results has no file {name}")
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(line for line in file if not line.startswith("#"))
        rows = list(reader)
    columns = reader.fieldnames or []
    for index, row in enumerate(rows):
        if None in row or None in row.values():
            raise Fault(f"{name}: row {index + 1} has not as many cells as there are columns")
    return columns, rows


def shown(text, form, factor):
    """Returns a cell as it stands on the page."""
    if text == "":
        return "–"
    value = number(text)
    if value is None or (form == "" and factor == 1.0):
        return text.replace("|", "\\|")
    return format(factor * value, form)


def table(words):
    """Returns the lines of one table."""
    name, *words = shlex.split(words)
    columns, rows = read(name)

    def known(column):
        if column not in columns:
            raise Fault(f"{name} has no column {column}; it has {', '.join(columns)}")
        return column

    wanted, limit = [], None
    for word in words:
        if word.startswith("where:"):
            column, _, values = word.removeprefix("where:").partition("=")
            rows = [row for row in rows if row[known(column)] in values.split("|")]
        elif word.startswith("sort:"):
            key = word.removeprefix("sort:")
            column = known(key.removeprefix("-"))
            by = lambda row: (number(row[column]) is None, number(row[column]) or 0.0, row[column])
            rows = sorted(rows, key=by, reverse=key.startswith("-"))
        elif word.startswith("rows:"):
            limit = int(word.removeprefix("rows:"))
        else:
            column, _, heading = word.partition("=")
            heading, _, form = heading.partition(":")
            form, _, factor = form.partition("*")
            wanted.append((known(column), heading or column, form, float(factor or 1)))
    rows = rows[:limit]
    if not rows:
        raise Fault(f"{name}: no row is left for {' '.join(words)}")
    wanted = wanted or [(column, column, "", 1.0) for column in columns]

    lines = ["| " + " | ".join(heading for _, heading, _, _ in wanted) + " |"]
    right = [all(r[c] == "" or number(r[c]) is not None for r in rows) for c, *_ in wanted]
    lines.append("|" + "|".join("---:" if is_right else "---" for is_right in right) + "|")
    for row in rows:
        cells = [shown(row[column], form, factor) for column, _, form, factor in wanted]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def filled(path, text):
    """Returns a page with its tables filled, and how many it has."""
    out, count = [], 0
    lines = iter(enumerate(text.split("\n"), 1))
    for place, line in lines:
        out.append(line)
        mark = BEGIN.match(line.strip())
        if not mark:
            if line.strip() == END:
                raise Fault(f"{path}:{place}: an end without a table")
            continue
        count += 1
        try:
            out += table(mark["words"])
        except (Fault, ValueError) as fault:
            raise Fault(f"{path}:{place}: {fault}") from fault
        for _, line in lines:
            if BEGIN.match(line.strip()):
                raise Fault(f"{path}:{place}: the table does not end before the next begins")
            if line.strip() == END:
                out.append(line)
                break
        else:
            raise Fault(f"{path}:{place}: the table does not end: {END} is missing")
    return "\n".join(out), count


def main():
    arguments = sys.argv[1:]
    is_check = "--check" in arguments
    named = [Path(word) for word in arguments if word != "--check"]
    pages = named or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    tables, stale = 0, []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        wanted, count = filled(page, text)
        tables += count
        if wanted == text:
            continue
        stale.append(page)
        if is_check:
            diff = difflib.unified_diff(
                text.split("\n"), wanted.split("\n"), str(page), "from its CSV", lineterm="", n=1
            )
            print("\n".join(diff))
        else:
            page.write_text(wanted, encoding="utf-8")
    state = "stale" if is_check else "filled anew"
    print(f"{tables} tables on {len(pages)} pages, {len(stale)} {state}")
    return int(is_check and bool(stale))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Fault, OSError) as fault:
        print(f"error: {fault}", file=sys.stderr)
        sys.exit(2)
