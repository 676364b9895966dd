#!/usr/bin/env python3
"""Draws docs/images/benchmarks.svg from the CSV files of bench/results.

    bench/chart.py            writes it
    bench/chart.py --check    changes nothing; fails where the file differs from its CSVs

One row per task, one dot per library: its time over Touchfield's, on a logarithmic axis. A hollow dot
answers something easier: convex parts, approximate distances or signs, or contacts that it misses.
"""

import math
import sys
from pathlib import Path
from xml.sax.saxutils import escape

sys.dont_write_bytecode = True

from cells import ROOT, figure  # noqa: E402

OUT = ROOT / "docs" / "images" / "benchmarks.svg"
AMD, INTEL = "amd-epyc-2", "intel-r-xeon-r-processor-2"
# Colours that are told apart by colour-blind readers too [Okabe2008].
COLOURS = {
    "parry3d": "#0072b2",
    "FCL": "#d55e00",
    "Coal": "#e69f00",
    "Bullet": "#009e73",
    "MuJoCo": "#cc79a7",
    "libigl": "#56b4e9",
    "Open3D": "#7f7f7f",
    "Warp": "#8c6d31",
    "OpenVDB": "#000000",
    "pysdf": "#b3a800",
    "mesh_to_sdf": "#a0522d",
}


def peers(task):
    """Returns the dots of a task of exact distances: library, figure, whether it answers the same."""
    rows = [
        ("parry3d", "parry-f32", True),
        ("Warp", "warp", True),
        ("Open3D", "open3d", True),
        ("libigl", "libigl", True),
        ("pysdf", "pysdf", False),
        ("mesh_to_sdf", "mesh_to_sdf", False),
    ]
    ratio = "per_cpu_s_all(task={0}, peer=touchfield)/per_cpu_s_all(task={0}, peer={1})"
    return [
        (library, f'{AMD}/peers.csv "{ratio.format(task, key)}"', is_same)
        for library, key, is_same in rows
    ]


def contact(regime, task, rows):
    """Returns the dots of a task of contact."""
    term = "query_cpu_us(regime={0}, task={1}, peer={2})"
    ours = term.format(regime, task, "touchfield")
    return [
        (library, f'{INTEL}/contact.csv "{term.format(regime, task, key)}/{ours}"', is_same)
        for library, key, is_same in rows
    ]


def swept(radius, ours, theirs, is_same):
    """Returns the dot of segments that begin outside; parry3d's ball casts stop cells too early."""
    term = "per cpu s(radius={}, segments=outside, who={})"
    ratio = f"{term.format(radius, ours)}/{term.format(radius, theirs)}"
    return [("parry3d", f'{AMD}/swept.csv "{ratio}"', is_same)]


def convex(query, bodies):
    where = f'"where:query={query}" where:bodies={bodies} where:corners=100'
    ratio = '"parry coherent ns/ours coherent ns"'
    return [("parry3d", f"{AMD}/convex.csv {ratio} {where}", True)]


def rapier(scene):
    term = "value(scene={}, collider={}, figure=all_ms)"
    ours = term.format(scene, "fields")
    return [
        ("parry3d", f'{AMD}/rapier.csv "{term.format(scene, "parts")}/{ours}"', False),
        ("parry3d", f'{AMD}/rapier.csv "{term.format(scene, "triangles")}/{ours}"', True),
    ]


MESHES = [
    ("parry3d", "parry-mesh", True),
    ("FCL", "fcl", True),
    ("Coal", "coal", True),
]
ALL = MESHES + [
    ("Bullet", "bullet-gimpact", True),
    ("MuJoCo", "mujoco-sdf", False),
    ("parry3d", "parry-hulls", False),
    ("Bullet", "bullet-hulls", False),
    ("Bullet", "bullet-hulls-42", False),
]
BAND = f"{AMD}/band.csv openvdb_cpu_s/cpu_s where:nodes=512"
TASKS = [
    ("contacts of two meshes, shallow", contact("shallow", "contacts", ALL)),
    ("contacts of two meshes, deep", contact("deep", "contacts", ALL)),
    ("touching or not, shallow", contact("shallow", "first", MESHES)),
    ("distance of two meshes, apart", contact("apart", "distance", MESHES[1:])),
    ("distances of 10⁶ points to a mesh", peers("points")),
    ("a grid of 256 nodes along a side", peers("grid256")),
    ("narrow band, 512 nodes", [("OpenVDB", BAND, True)]),
    ("rays, dense field", swept("0", "Touchfield dense", "parry3d rays", True)),
    ("rays, sparse field", swept("0", "Touchfield sparse", "parry3d rays", True)),
    ("balls of radius 0.02, dense field", swept("0.02", "Touchfield dense", "parry3d balls", False)),
    ("hulls in motion, distance", convex("distance, GJK", "apart")),
    ("hulls in motion, depth", convex("depth, GJK and EPA", "deep")),
    ("500 tori in Rapier", rapier("tori")),
    ("500 bowls in Rapier", rapier("bowls")),
]

WIDTH, LEFT, RIGHT, ROW, TOP = 860, 250, 30, 27, 78
LEAST, MOST = 0.4, 520.0


def x_of(ratio):
    share = math.log(ratio / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def text(x, y, words, anchor="start", size=13, colour="#222222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{escape(words)}</text>'


def dot(x, y, library, is_same, tip):
    fill = COLOURS[library] if is_same else "#ffffff"
    mark = f'cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{fill}" stroke="{COLOURS[library]}" stroke-width="2"'
    return f"<circle {mark}><title>{escape(tip)}</title></circle>"


def svg():
    """Returns the picture."""
    bottom = TOP + ROW * len(TASKS)
    height = bottom + 46
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        text(12, 22, "Time of other libraries over Touchfield's, on one core", size=16),
    ]
    x, y = 12, 46
    for library in COLOURS:
        wide = 26 + 7.4 * len(library)
        if x + wide > WIDTH - 12:
            x, y = 12, y + 18
        out += [dot(x + 6, y - 4, library, True, library), text(x + 16, y, library, size=12)]
        x += wide
    for ratio in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500):
        x = x_of(ratio)
        colour, width = ("#222222", 1.6) if ratio == 1 else ("#dddddd", 1)
        out.append(f'<path d="M{x:.1f} {TOP - 6}V{bottom}" stroke="{colour}" stroke-width="{width}"/>')
        out.append(text(x, bottom + 17, f"{ratio:g}×", "middle", 12))
    out.append(text(x_of(1) - 6, bottom + 36, "← peer faster", "end", 12))
    out.append(text(x_of(1) + 6, bottom + 36, "Touchfield faster →", "start", 12))
    for index, (title, dots) in enumerate(TASKS):
        y = TOP + ROW * (index + 0.5)
        if index % 2:
            out.insert(2, f'<rect x="0" y="{y - ROW / 2:.1f}" width="{WIDTH}" height="{ROW}" fill="#f6f6f6"/>')
        out.append(text(LEFT - 12, y + 4, title, "end"))
        # Filled dots last: they lie above hollow ones.
        for library, words, is_same in sorted(dots, key=lambda dot: dot[2]):
            value = float(figure(words))
            assert LEAST < value < MOST, f"{title}: {library} at {value} is off the axis"
            out.append(dot(x_of(value), y, library, is_same, f"{library}: {value:.2f}×"))
    return "\n".join([*out, "</svg>", ""])


def main():
    wanted = svg()
    if "--check" in sys.argv[1:]:
        is_same = OUT.is_file() and OUT.read_text(encoding="utf-8") == wanted
        print(f"{OUT.relative_to(ROOT)} {'agrees with' if is_same else 'differs from'} its CSVs")
        return int(not is_same)
    OUT.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
