"""Compares what the peers left in the work folder and writes peers.csv: `table.py WORK RESULTS`.

A quick run writes peers-quick.csv, which no page shows. `table.py --machine` prints the name of this machine's folder.
Disputed signs are settled by an independent referee: the winding number in f64 over all triangles, in NumPy.
"""

import csv
import json
import os
import re
import sys
from pathlib import Path

import numpy as np

# In the order of the file, and how each computes the sign.
PEERS = {
    "touchfield": "",
    "parry-f32": "pseudonormals",
    "parry-f64": "pseudonormals",
    "warp": "pseudonormals",
    "open3d": "one ray",
    "libigl": "pseudonormals",
    "libigl-winding": "fast winding number",
    "pysdf": "normals and rays",
    "mesh_to_sdf": "rays",
}
# Nearer to the surface than this part of the diagonal every sign is right: f32 cannot tell.
NEAR = 1e-6


def main():
    if sys.argv[1] == "--machine":
        print(machine_slug())
        return
    work, results = map(Path, sys.argv[1:3])
    mesh = json.loads((work / "mesh.json").read_text())
    rows = [json.loads(line) for line in (work / "rows.jsonl").read_text().splitlines()]
    referee = Referee(work)
    compared = [compare(work, mesh, row, referee) for row in rows]
    quick = (work / "mode").read_text().strip() == "quick"
    write_csv(results / ("peers-quick.csv" if quick else "peers.csv"), compared)
    for line in missing(work):
        print(f"Missing: {line}")


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
        "sign": row.get("sign", PEERS[peer]),
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


if __name__ == "__main__":
    main()
