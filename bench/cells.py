"""Reads the CSV files of bench/results, and computes table rows and single figures from them.

An expression names what a cell of a table or a figure in a sentence shows:

    column                          the column's value
    column(key=value, key=value)    the value of the one row that has these cells
    TERM/TERM                       the quotient of two terms
"""

import csv
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
TERM = r"[^=/()]+(?:\([^)]*\))?"
COLUMN = re.compile(rf"^(?P<expression>{TERM}(?:/{TERM})?)(?:=(?P<heading>.*))?$")
FIGURE = re.compile(rf"^(?P<expression>{TERM}(?:/{TERM})?)$")
FOLDS = {"max": max, "min": min, "sum": sum, "mean": lambda all: sum(all) / len(all)}


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
            raise Fault(f"{name}: row {index + 1} does not have one cell per column")
    return columns, rows


def names():
    """Returns what pages call the keys that stand in CSV files."""
    return {row["key"]: row["name"] for row in read("names.csv")[1]}


def known(name, columns, column):
    if column not in columns:
        raise Fault(f"{name} has no column {column}; it has {', '.join(columns)}")
    return column


def spread(name, columns, rows, word):
    """Returns the rows with a column per figure, for files that hold one figure per row."""
    key, _, value = word.partition(",")
    known(name, columns, key), known(name, columns, value)
    others = [column for column in columns if column not in (key, value)]
    figures = list(dict.fromkeys(row[key] for row in rows))
    merged = {}
    for row in rows:
        place = tuple(row[column] for column in others)
        wide = merged.setdefault(place, dict(zip(others, place)) | dict.fromkeys(figures, ""))
        if wide[row[key]] != "":
            raise Fault(f"{name}: {row[key]} stands twice for {', '.join(place)}")
        wide[row[key]] = row[value]
    return others + figures, list(merged.values())


def selected(words):
    """Returns file name, columns, rows that are left, and the words that select no rows."""
    name, *words = words
    columns, rows = read(name)
    rest, limit = [], None
    # Rows are selected by the columns of the file, so before any of these are spread.
    for word in sorted(words, key=lambda word: not word.startswith(("where:", "not:"))):
        if word.startswith(("where:", "not:")):
            kind, _, condition = word.partition(":")
            column, _, values = condition.partition("=")
            column, values, is_wanted = known(name, columns, column), values.split("|"), kind == "where"
            rows = [row for row in rows if (row[column] in values) == is_wanted]
        elif word.startswith("drop:"):
            dropped = known(name, columns, word.removeprefix("drop:"))
            columns = [column for column in columns if column != dropped]
            rows = [{column: row[column] for column in columns} for row in rows]
        elif word.startswith("spread:"):
            columns, rows = spread(name, columns, rows, word.removeprefix("spread:"))
        elif word.startswith("sort:"):
            key = word.removeprefix("sort:")
            column = known(name, columns, key.removeprefix("-"))
            by = lambda row: (number(row[column]) is None, number(row[column]) or 0.0, row[column])
            rows = sorted(rows, key=by, reverse=key.startswith("-"))
        elif word.startswith("rows:"):
            limit = int(word.removeprefix("rows:"))
        else:
            rest.append(word)
    rows = rows[:limit]
    if not rows:
        raise Fault(f"{name}: no row is left for {' '.join(words)}")
    return name, columns, rows, rest


def term(text, name, columns, rows, row):
    """Returns the cell that a term names: of the current row, or of the row it selects itself."""
    column, _, conditions = text.partition("(")
    column = known(name, columns, column.strip())
    if not conditions:
        return row[column]
    for condition in conditions.rstrip(")").split(","):
        key, _, value = (part.strip() for part in condition.partition("="))
        rows = [r for r in rows if r[known(name, columns, key)] == value]
    if len(rows) != 1:
        raise Fault(f"{name}: {text} selects {len(rows)} rows, not one")
    return rows[0][column]


def value(expression, name, columns, rows, row):
    """Returns what an expression gives for a row: text of one cell, or a quotient."""
    parts = re.findall(TERM, expression)
    cells = [term(part, name, columns, rows, row) for part in parts]
    if len(cells) == 1:
        return cells[0]
    above, below = map(number, cells)
    if above is None or not below:
        return ""
    return repr(above / below)


def shown(text, form, factor):
    """Returns a cell as it stands on the page."""
    if text == "":
        return "–"
    if form == "name":
        return names().get(text, text)
    amount = number(text)
    if amount is None or (form == "" and factor == 1.0):
        return text.replace("|", "\\|")
    return format(factor * amount, form)


def split_form(text):
    """Splits `Heading:FORMAT*N` into its three parts."""
    heading, _, form = text.partition(":")
    form, _, factor = form.partition("*")
    return heading, form, float(factor or 1)


def table(words):
    """Returns the lines of one table."""
    name, columns, rows, rest = selected(shlex.split(words))
    wanted = []
    for word in rest or columns:
        found = COLUMN.match(word)
        if not found:
            raise Fault(f"{name}: {word} is no column, selection or order")
        heading, form, factor = split_form(found["heading"] or "")
        wanted.append((found["expression"], heading or found["expression"], form, factor))
    for expression, *_ in wanted:
        value(expression, name, columns, rows, rows[0])

    cells = [[value(e, name, columns, rows, row) for e, *_ in wanted] for row in rows]
    right = [all(c == "" or number(c) is not None for c in column) for column in zip(*cells)]
    lines = ["| " + " | ".join(heading for _, heading, _, _ in wanted) + " |"]
    lines.append("|" + "|".join("---:" if is_right else "---" for is_right in right) + "|")
    for row in cells:
        texts = [shown(cell, form, factor) for cell, (*_, form, factor) in zip(row, wanted)]
        lines.append("| " + " | ".join(texts) + " |")
    return lines


def figure(words):
    """Returns one figure as it stands in a sentence."""
    name, columns, rows, rest = selected(shlex.split(words))
    fold = next((word.removeprefix("of:") for word in rest if word.startswith("of:")), None)
    rest = [word for word in rest if not word.startswith("of:")]
    if len(rest) != 1:
        raise Fault(f"{name}: a figure has one expression, not {len(rest)}")
    expression, form, factor = split_form(rest[0])
    if not FIGURE.match(expression):
        raise Fault(f"{name}: {expression} is no expression")
    if fold == "count":
        return format(len(rows), form or ",")
    if fold:
        cells = [value(expression, name, columns, rows, row) for row in rows]
        numbers = [number(cell) for cell in cells if cell != ""]
        if fold not in FOLDS or not numbers or None in numbers:
            raise Fault(f"{name}: cannot take {fold} of {expression}")
        return shown(repr(float(FOLDS[fold](numbers))), form, factor)
    # Terms that select a row of their own need no current row.
    if len(rows) != 1 and not all("(" in part for part in re.findall(TERM, expression)):
        raise Fault(f"{name}: {len(rows)} rows are left for {expression}, not one")
    cell = value(expression, name, columns, rows, rows[0])
    if cell == "":
        raise Fault(f"{name}: {expression} is empty")
    return shown(cell, form, factor)
