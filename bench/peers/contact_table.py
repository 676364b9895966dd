"""Prints what `contact_run` measured, as Markdown, and writes `contact.csv`: `contact_table.py WORK RESULTS`.

Truth is that of `contact_poses`: exact, from the triangles. A peer that finds nothing in a pose that touches has missed it; one that finds something in a pose
apart was wrong.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

from table import machine

# In the order of the tables.
PEERS = {
    "touchfield": "**Touchfield**",
    "parry-mesh": "parry3d `TriMesh`",
    "fcl": "FCL `BVHModel<OBBRSSd>`",
    "coal": "Coal `BVHModel<OBBRSS>`",
    "bullet-gimpact": "Bullet GImpact",
    "mujoco-sdf": "MuJoCo SDF octree",
    "parry-hulls": "parry3d V-HACD",
    "bullet-hulls": "Bullet, the same hulls",
    "bullet-hulls-42": "Bullet, hulls of 42 points",
}
COLUMNS = ["regime", "task", "peer", "version", "poses", "prepare_cpu_s", "query_cpu_us", "touching", "found", "missed", "wrong", "contacts", "largest_error_of_diagonal",
           "surface_error_cells", "surface_error_99_cells", "depth_error_cells", "depth_error_99_cells", "deepest_error_cells", "deepest_error_99_cells", "broken_brackets", "brackets_wider_than_asked", "widest_bracket_of_diagonal"]


def main():
    work, results = map(Path, sys.argv[1:3])
    mesh = json.loads((work / "mesh.json").read_text())
    truths = {regime: np.genfromtxt(work / f"{regime}.truth.csv", delimiter=",", names=True) for regime in ("shallow", "deep", "apart")}
    rows = {}
    for line in (work / "rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        rows[row["regime"], row["task"], row["peer"]] = judged(work, mesh, row, truths[row["regime"]])
    with open(results / ("contact.csv" if mesh["poses"] >= 1000 else "contact-quick.csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", restval="")
        writer.writeheader()
        writer.writerows(rows[key] for key in sorted(rows, key=lambda key: (key[0], key[1], list(PEERS).index(key[2]))))
    print(render(mesh, rows))
    for line in (work / "missing.txt").read_text().splitlines():
        print(f"Missing: {line}")


def judged(work, mesh, row, truth):
    """The row with its answers held against truth."""
    values = np.fromfile(work / f"{row['regime']}.{row['task']}.{row['peer']}.out")
    touching = truth["touching"] == 1
    out = {
        "regime": row["regime"],
        "task": row["task"],
        "peer": row["peer"],
        "version": row["version"],
        "poses": row["count"],
        "prepare_cpu_s": round(row["prepare"], 4),
        "query_cpu_us": round(1e6 * row["query"] / row["count"], 3),
        "touching": int(touching.sum()),
    }
    for key in ("surface_error", "surface_error_99", "depth_error", "depth_error_99", "deepest_error", "deepest_error_99"):
        if key in row:
            out[f"{key}_cells"] = row[key]
    if "widest_bracket" in row:
        out |= {key: row[key] for key in ("broken_brackets", "brackets_wider_than_asked")}
        out["widest_bracket_of_diagonal"] = row["widest_bracket"] / mesh["diagonal"]
    if row["task"] == "distance":
        out["largest_error_of_diagonal"] = float(np.abs(values - truth["distance"]).max() / mesh["diagonal"])
    else:
        found = values > 0
        out |= {"found": int(found.sum()), "missed": int((touching & ~found).sum()), "wrong": int((found & ~touching).sum())}
        if row["task"] == "contacts":
            out["contacts"] = round(float(values[found].mean()) if found.any() else 0.0, 1)
    return out


def render(mesh, rows):
    name, cores = machine()
    lines = [f"{mesh['mesh']}, {mesh['faces']:,} triangles, against itself; {name}, one core of {cores}, CPU time; {mesh['poses']:,} poses a regime."]
    for task, title in (("contacts", "All contacts"), ("first", "Touching or not")):
        columns = ["[µs]", "times ours", "missed", "wrong"] + ["contacts"] * (task == "contacts")
        heads = [f"{regime} {columns[0]} | " + " | ".join(columns[1:]) for regime in ("shallow", "deep")]
        lines += ["", f"| {title} | " + " | ".join(heads) + " |", "|---|" + "--:|" * 2 * len(columns)]
        for peer, label in PEERS.items():
            both = [rows.get((regime, task, peer)) for regime in ("shallow", "deep")]
            if any(both):
                lines.append(f"| {label} | " + " | ".join(cells(row, rows, len(columns)) for row in both) + " |")
        touching = [next((row["touching"] for key, row in rows.items() if key[0] == regime), 0) for regime in ("shallow", "deep")]
        empty = " |" * (len(columns) - 1)
        lines.append(f"| *truth: touching* | {touching[0]} |{empty} {touching[1]} |{empty}")
    lines += ["", "| Distance, apart | [µs] | times ours | largest error, of the diagonal |", "|---|--:|--:|--:|"]
    for peer, label in PEERS.items():
        if row := rows.get(("apart", "distance", peer)):
            lines.append(f"| {label} | {row['query_cpu_us']:.1f} | {times(row, rows)} | {row['largest_error_of_diagonal']:.1e} |")
    lines.append("")
    for regime in ("shallow", "deep"):
        row = rows.get((regime, "contacts", "touchfield"))
        if row and "deepest_error_cells" in row:
            lines.append(
                f"Our contacts, {regime}, against truth, in cells: on the surfaces within {row['surface_error_cells']:.2f} (99 %: {row['surface_error_99_cells']:.2f}), "
                f"depth within {row['depth_error_cells']:.2f} (99 %: {row['depth_error_99_cells']:.2f}), "
                f"the deepest of each pose within {row['deepest_error_cells']:.2f} (99 %: {row['deepest_error_99_cells']:.2f})."
            )
    row = rows.get(("apart", "distance", "touchfield"))
    if row and "broken_brackets" in row:
        lines.append(
            f"Our brackets of the distance: {row['broken_brackets']} do not hold the truth; {row['brackets_wider_than_asked']} are wider than the 1e-3 of the diagonal "
            f"asked for, the widest {row['widest_bracket_of_diagonal']:.1e}."
        )
    return "\n".join(lines)


def cells(row, rows, count):
    if not row:
        return " | ".join("–" * count)
    values = [f"{row['query_cpu_us']:.1f}", times(row, rows), row["missed"], row["wrong"], row.get("contacts")]
    return " | ".join(str(value) for value in values[:count])


def times(row, rows):
    ours = rows.get((row["regime"], row["task"], "touchfield"))
    return f"{row['query_cpu_us'] / ours['query_cpu_us']:.2f}" if ours else "–"


if __name__ == "__main__":
    main()
