"""Compares what the peers left in the work folder and writes docs/BENCHMARKS.md: `table.py WORK RESULTS DOCUMENT`.

Disputed signs are settled by an independent referee: the winding number in f64 over all triangles, in NumPy.
"""

import csv
import json
import os
import re
import sys
from pathlib import Path

import numpy as np

# In the order of the tables: name, how it tells the sign, and whether distances and signs are exact by design.
PEERS = {
    "touchfield": ("**Touchfield**", "", "exact"),
    "parry-f32": ("parry3d `TriMesh`, `ORIENTED`", "pseudonormals", "exact, f32"),
    "parry-f64": ("parry3d-f64 `TriMesh`, `ORIENTED`", "pseudonormals", "exact"),
    "warp": ("Warp `mesh_query_point_sign_normal`, CPU", "pseudonormals", "exact, f32"),
    "open3d": ("Open3D `RaycastingScene`", "one ray", "exact, f32"),
    "libigl": ("libigl `signed_distance`", "pseudonormals", "exact"),
    "libigl-winding": ("libigl `signed_distance`", "fast winding number", "approximate sign"),
    "pysdf": ("pysdf", "normals and rays", "approximate"),
    "mesh_to_sdf": ("mesh_to_sdf", "rays", "approximate"),
}
# Nearer to the surface than this part of the diagonal every sign is right: f32 cannot tell.
NEAR = 1e-6


def main():
    if sys.argv[1] == "--machine":
        print(machine_slug())
        return
    work, results, document = map(Path, sys.argv[1:4])
    mesh = json.loads((work / "mesh.json").read_text())
    rows = [json.loads(line) for line in (work / "rows.jsonl").read_text().splitlines()]
    referee = Referee(work)
    compared = [compare(work, mesh, row, referee) for row in rows]
    quick = (work / "mode").read_text().strip() == "quick"
    write_csv(results / "peers.csv", compared)
    text = render(mesh, compared, quick, missing(work), results)
    # Renamed when complete: nobody sees half a table.
    half = document.with_suffix(".md.half")
    document.parent.mkdir(exist_ok=True)
    half.write_text(text + other_tables(document))
    os.replace(half, document)


def other_tables(document):
    """What stands below the mark in the document: tables that other programs print."""
    mark = "<!-- tables of other programs -->"
    before = document.read_text() if document.exists() else ""
    return "\n" + before[before.index(mark):] if mark in before else ""


def machine():
    model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    return (model.group(1).strip() if model else "unknown CPU"), len(os.sched_getaffinity(0))


def machine_slug():
    model, cores = machine()
    return f"{re.sub('[^a-z0-9]+', '-', model.lower()).strip('-')}-{cores}"


def missing(work):
    path = work / "missing.txt"
    return path.read_text().splitlines() if path.exists() else []


class Referee:
    """Inside or outside by the winding number: the sum of the solid angles of all triangles [VanOosterom1983]."""

    def __init__(self, work):
        vertices = np.fromfile(work / "vertices.f64").reshape(-1, 3)
        faces = np.fromfile(work / "faces.u32", dtype=np.uint32).reshape(-1, 3)
        self.corners = vertices[faces]

    def inside(self, point):
        a, b, c = (self.corners[:, i] - point for i in range(3))
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        dot = lambda u, v: np.einsum("ij,ij->i", u, v)
        determinant = dot(a, np.cross(b, c))
        denominator = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
        return np.arctan2(determinant, denominator).sum() / (2.0 * np.pi) > 0.5


def compare(work, mesh, row, referee):
    """The row with its speeds, its differences from ours and the signs that are wrong."""
    task, peer = row["task"], row["peer"]
    whole = task.removesuffix("-part")
    ours = np.fromfile(work / f"{whole}.touchfield.out")
    total = len(ours)
    if task != whole:
        ours = ours[np.fromfile(work / f"{task}.u32", dtype=np.uint32)]
    theirs = np.fromfile(work / f"{task}.{peer}.out")
    assert len(ours) == len(theirs), f"{peer} answered {len(theirs)} of {len(ours)} points of {task}"
    query = row["query"] * total / row["count"]
    unanswered = ~np.isfinite(theirs)
    difference = np.abs(np.abs(ours) - np.abs(theirs))[~unanswered]
    disputed = np.flatnonzero((np.signbit(ours) != np.signbit(theirs)) & (np.abs(ours) > NEAR * mesh["diagonal"]) & ~unanswered)
    judged = disputed[:500]
    points = np.fromfile(work / f"{task}.f64").reshape(-1, 3)
    ours_wrong = sum(referee.inside(points[i]) != (ours[i] < 0.0) for i in judged)
    return {
        "task": whole,
        "peer": peer,
        "version": row["version"],
        "sign": row.get("sign", PEERS[peer][1]),
        "notes": "; ".join(row.get("notes", [])),
        "points": row["count"],
        "of": total,
        "prepare_cpu_s": row["prepare"],
        "query_cpu_s": query,
        "per_cpu_s": total / query,
        "per_cpu_s_all": total / (row["prepare"] + query),
        "largest_difference_of_diagonal": difference.max() / mesh["diagonal"],
        "disputed_signs": len(disputed),
        "judged": len(judged),
        "ours_wrong": int(ours_wrong),
        "unanswered": int(unanswered.sum()),
    }


def write_csv(path, compared):
    half = path.with_suffix(".csv.half")
    with open(half, "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=compared[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(compared)
    os.replace(half, path)


def render(mesh, compared, quick, missing, results):
    model, cores = machine()
    versions = {row["peer"]: row["version"] for row in compared}
    names = {"parry-f32": "parry3d and parry3d-f64", "warp": "Warp", "open3d": "Open3D", "libigl": "libigl", "pysdf": "pysdf", "mesh_to_sdf": "mesh_to_sdf"}
    used = ", ".join(f"{name} {versions[peer]}" for peer, name in names.items() if peer in versions)
    out = [
        "# Benchmarks",
        "",
        f"Written by `bench/peers/run{' --quick' if quick else ''}`: everybody on the same mesh and the same points, in one run, each pinned to one core of "
        f"{cores} of an {model}.",
        f"Mesh: {mesh['mesh']}, {mesh['faces']:,} triangles. Peers: {used}.",
        "",
        "Speeds are per CPU second of the process, threads included, preparation (hierarchies, checks of the mesh, choice of the sign) included; the least of up to three runs. "
        "*Ours is* compares these. *Difference* is the largest between a peer's distance and ours, as a part of the diagonal of the box. "
        f"*Wrong signs* are those farther than {NEAR:g} of the diagonal from the surface where the peer and Touchfield disagree and the winding number over all triangles in f64 "
        "sides with Touchfield; where it sides with the peer, that is said below the table.",
    ]
    if quick:
        out += ["", "**Provisional**: a quick run, on fewer points and on a machine that was busy with other work. Run `bench/peers/run` on an idle one for figures to quote."]
    titles = {"points": "random points in the mesh's box", "grid128": "a grid of 128 nodes along the longest side", "grid256": "a grid of 256 nodes along the longest side"}
    for task, title in titles.items():
        rows = sorted((row for row in compared if row["task"] == task), key=lambda row: list(PEERS).index(row["peer"]))
        if rows:
            out += ["", f"## Exact signed distance: {title}", "", *table(rows, quick)]
    if missing:
        out += ["", "Not measured, because they could not be installed or failed here: " + ", ".join(f"`{line}`" for line in missing) + "."]
    figures = results / "measure.csv"
    if figures.exists():
        out += ["", *own_figures(figures)]
    out += ["", f"The same as CSV: `{results}`. What is measured how: `bench/README.md`.", ""]
    return "\n".join(out)


def table(rows, quick):
    ours = next((row for row in rows if row["peer"] == "touchfield"), None)
    lines = [
        f"{rows[0]['of']:,} points.",
        "",
        "| library | sign by | claims | prepare [CPU s] | query [CPU s] | thousand a CPU second | ours is | difference | wrong signs |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    notes = []
    for row in rows:
        name, _, claims = PEERS[row["peer"]]
        sign = row["sign"]
        part = row["points"] < row["of"]
        mark = " †" if part else ""
        times = difference = wrong = "–"
        if row is not ours:
            times = f"{ours['per_cpu_s_all'] / row['per_cpu_s_all']:.1f}×" if ours else "–"
            difference = f"{row['largest_difference_of_diagonal']:.0e}"
            wrong = f"{row['disputed_signs'] - row['ours_wrong']:,}"
            if row["disputed_signs"] > row["judged"]:
                wrong = f"{row['disputed_signs']:,} disputed"
                notes.append(f"{name}: {row['judged']} of the {row['disputed_signs']:,} disputed signs were judged; Touchfield was wrong in {row['ours_wrong']}.")
            elif row["ours_wrong"]:
                notes.append(f"{name}: Touchfield was wrong at {row['ours_wrong']} points.")
            if row["unanswered"]:
                notes.append(f"{name}: no answer at {row['unanswered']:,} points.")
        prepare = f"{row['prepare_cpu_s']:.2f}" if row["prepare_cpu_s"] else "in query"
        lines.append(
            f"| {name}{mark} | {sign} | {claims} | {prepare} | {row['query_cpu_s']:.2f} | {row['per_cpu_s_all'] / 1e3:,.0f} | {times} | {difference} | {wrong} |"
        )
    parts = [row for row in rows if row["points"] < row["of"]]
    if parts:
        share = parts[0]["points"] / parts[0]["of"]
        lines += ["", f"† Measured on {parts[0]['points']:,} nodes ({share:.0%}), whole blocks of 16³ chosen at random, and extrapolated; differences and signs are those of that part."]
    if ours and ours["notes"]:
        lines += ["", f"What Touchfield notes about this mesh: {ours['notes']}. There the nearest feature need not tell the side, and libraries that rely on pseudonormals can be wrong deep inside."]
    for note in notes:
        lines += ["", note]
    return lines


def own_figures(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    lines = ["## Touchfield alone", "", "Written by `cargo run --release -p touchfield-bench --bin measure`.", "", "| figure | at | value |", "|---|---|--:|"]
    for row in rows:
        value = float(row["value"])
        shown = f"{value:,.0f}" if value >= 1000 else f"{value:g}"
        lines.append(f"| {row['figure']} | {row['parameter']} | {shown} {row['unit']} |")
    return lines


if __name__ == "__main__":
    main()
