#!/usr/bin/env python3
"""Fills tables and figures of Markdown pages from the CSV files of bench/results, and checks them.

    bench/pages.py [PAGE.md ...]            fills; without pages: README.md and docs/
    bench/pages.py --check [PAGE.md ...]    changes nothing; fails where a page and the CSVs differ,
                                            and where a figure on a page comes from no CSV

Marks are comments, which do not show where the page is rendered. A table:

    <!-- table: MACHINE/FILE.csv WORD ... -->
    | generated | rows |
    <!-- end table -->

Each word after the file is one of these; a word with spaces stands in double quotes:

    column                  a column, under its own name and with the file's own digits
    column=Heading          under a heading
    column=Heading:FORMAT   with a format of Python: `.2f`, `,.0f`, `.1e`; `name`: by names.csv
    column=Heading:FORMAT*N with its numbers times N first, such as 1e3 for seconds to milliseconds
    a/b=Heading             the quotient of two columns
    a/a(key=value)=Heading  the quotient with the same column of another row of the table
    where:column=value      only rows with that value; `a|b` for either
    not:column=value        only rows without it
    drop:column             forgets a column, for the next word
    spread:figure,value     rows that differ in these two columns alone become one row
    sort:column             rows by a column, numbers as numbers; `sort:-column` from the largest on
    rows:N                  the first N rows of those

Without a column, all of them. A column whose cells are all numbers is aligned to the right. An empty
cell becomes a dash. What a mark names must exist: no table is silently empty.

A figure in a sentence stands right behind its mark. The words are those of a table, with one
expression; one row must be left, or `of:max`, `of:min`, `of:mean`, `of:sum`, `of:count` folds them:

    takes <!-- figure: MACHINE/FILE.csv seconds:.1f*1e3 where:nodes=64 -->12.5 ms

How a file was measured, from bench/results/runs.csv:

    <!-- run: MACHINE/FILE.csv -->
    generated
    <!-- end run -->

On README.md, docs/BENCHMARKS.md and docs/benchmarks/*.md every number with a unit or a ratio must be
a figure, or part of a generated table, or code, or a condition of the experiment that the page names:

    <!-- given: 0.5 %, 200 m -->

`bench/pages_test.py` shows that the check fails where it should.
"""

import difflib
import re
import shlex
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from cells import RESULTS, ROOT, Fault, figure, read, table  # noqa: E402

BEGIN = re.compile(r"^<!-- (?P<kind>table|run): (?P<words>.*?) -->$")
END = re.compile(r"^<!-- end (?P<kind>table|run) -->$")
NUMBER = r"(?:±|~|-|−|\+)?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?"
FIGURE = re.compile(rf"<!-- figure: (?P<words>.*?) -->(?P<shown>{NUMBER}|…)")
GIVEN = re.compile(r"<!-- given: (?P<words>.*?) -->", re.S)
UNIT = (
    r"%|‰|×|·|times|fold|ns|µs|ms|s|min|h|seconds?|minutes?|hours?|[kMGT]?B|bytes|km|m|cm|mm|µm|nm"
    r"|cells?|degrees|rad|turns?|pitches|m/s|rad/s|Hz|kg|thousand|million|billion|k|M"
    r"|(?:CPU )?seconds?|CPU s"
)
CLAIM = re.compile(rf"(?<![\w.,^-]){NUMBER}[\s\u00a0-]?(?:{UNIT})(?![\w²³])")
# A row of a table that somebody wrote by hand has its units in the heading: there each number
# counts.
CELL = re.compile(rf"^\W*{NUMBER}\W*$")


def run(words):
    """Returns the lines that say how a file was measured."""
    (name,) = shlex.split(words)
    found = [row for row in read("runs.csv")[1] if row["file"] == name]
    if not found:
        raise Fault(f"runs.csv does not say how {name} was measured")
    machine = name.split("/")[0]
    lines = []
    for row in found:
        part = f"{row['part']}: " if row["part"] else ""
        load = f", {row['load']}" if row["load"] else ""
        lines.append(f"- {part}`{row['command']}` on `{machine}`{load}, {row['date']}.")
    return ["", *lines, ""]


def filled(path, text):
    """Returns a page with its tables and figures filled, and how many tables it has."""
    out, count = [], 0
    lines = iter(enumerate(text.split("\n"), 1))
    for place, line in lines:
        mark = BEGIN.match(line.strip())
        try:
            line = FIGURE.sub(lambda m: f"<!-- figure: {m['words']} -->{figure(m['words'])}", line)
            if "<!-- figure:" in FIGURE.sub("", line):
                raise Fault("no number stands behind the mark of a figure")
            out.append(line)
            if not mark:
                if END.match(line.strip()):
                    raise Fault("an end without a beginning")
                continue
            count += mark["kind"] == "table"
            out += {"table": table, "run": run}[mark["kind"]](mark["words"])
        except (Fault, ValueError) as fault:
            raise Fault(f"{path}:{place}: {fault}") from fault
        for _, line in lines:
            if BEGIN.match(line.strip()):
                raise Fault(f"{path}:{place}: it does not end before the next begins")
            end = END.match(line.strip())
            if end and end["kind"] == mark["kind"]:
                out.append(line)
                break
        else:
            raise Fault(f"{path}:{place}: <!-- end {mark['kind']} --> is missing")
    return "\n".join(out), count


def blank(text):
    """Returns spaces for what was matched, and its line breaks: places stay as they are."""
    return re.sub(r"[^\n]", " ", text)


def prose(text):
    """Returns a page without what is generated or is no prose: tables and figures from CSVs, code,
    comments, addresses of links."""
    hidden = [
        r"<!-- (table|run): .*?<!-- end \1 -->",
        r"^```.*?^```",
        r"`[^`\n]*`",
        rf"<!-- figure: [^\n]*?-->{NUMBER}",
        r"<!--.*?-->",
        r"\]\([^)\n]*\)",
    ]
    for pattern in hidden:
        text = re.sub(pattern, lambda m: blank(m[0]), text, flags=re.S | re.M)
    return text


def untraced(text):
    """Returns line and text of every figure that comes from no CSV, and every unused `given`."""
    given = []
    for words in GIVEN.findall(text):
        given += [" ".join(word.split()) for word in re.split(r",\s", words)]
    used, found = set(), []
    for place, line in enumerate(prose(text).split("\n"), 1):
        claims = [match[0] for match in CLAIM.finditer(line)]
        if line.strip().startswith("|"):
            claims += [cell.strip() for cell in line.split("|") if CELL.match(cell)]
        for claim in claims:
            claim = " ".join(claim.replace("\u00a0", " ").split())
            used.add(claim)
            if claim not in given:
                found.append((place, f"“{claim}” stands in no CSV of bench/results"))
    found += [(1, f"“{word}” is given, but not on the page") for word in given if word not in used]
    return found


def unexplained(text):
    """Returns files whose tables a page shows without saying how they were measured."""
    shown = set(re.findall(r"<!-- table: (\S+)", text))
    return sorted(shown - set(re.findall(r"<!-- run: (\S+)", text)))


def is_strict(page):
    """Returns whether every figure of a page must come from a CSV."""
    page = page.resolve()
    strict = [ROOT / "README.md", ROOT / "docs" / "BENCHMARKS.md"]
    return page in strict or page.parent == ROOT / "docs" / "benchmarks"


def results_without_run():
    """Returns the CSV files of machines of which runs.csv does not say how they were measured, and
    those that it names and that are not there. Quick runs are nobody's figures."""
    told = {row["file"] for row in read("runs.csv")[1]}
    paths = (path for path in RESULTS.glob("*/*.csv") if not path.stem.endswith("-quick"))
    files = {str(path.relative_to(RESULTS)) for path in paths}
    return sorted(files ^ told)


def problems(page, text):
    """Returns what is wrong with the figures of a page, beyond what filling would mend."""
    if not is_strict(page):
        return []
    lines = [f"{page}:{place}: {what}" for place, what in untraced(text)]
    if page.parent.name == "benchmarks":
        lines += [f"{page}:1: no run: mark for {name}" for name in unexplained(text)]
    return lines


def main():
    arguments = sys.argv[1:]
    is_check = "--check" in arguments
    named = [Path(word) for word in arguments if word != "--check"]
    pages = named or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    tables, stale, wrong = 0, [], []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        wanted, count = filled(page, text)
        tables += count
        wrong += problems(page, wanted)
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
    wrong += [f"runs.csv: {name} has no run or is no file" for name in results_without_run()]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    state = "stale" if is_check else "filled anew"
    print(f"{tables} tables on {len(pages)} pages, {len(stale)} {state}, {len(wrong)} faults")
    return int(is_check and bool(stale or wrong))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Fault, OSError) as fault:
        print(f"error: {fault}", file=sys.stderr)
        sys.exit(2)
