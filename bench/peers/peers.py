"""Python peers on the work that `ours prepare` wrote: `peers.py FOLDER PEER TASK`.

Input: `vertices.f64`, `faces.u32` and the task's points. Output: the task's signed distances as `TASK.PEER.out` (negative
inside), and one line of JSON with CPU seconds of preparation and queries. Exit code 3: the peer cannot be imported here.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np


def main():
    folder, peer, task = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    vertices = np.fromfile(folder / "vertices.f64").reshape(-1, 3)
    faces = np.fromfile(folder / "faces.u32", dtype=np.uint32).reshape(-1, 3)
    points = np.fromfile(folder / f"{task}.f64").reshape(-1, 3)
    try:
        package, run = PEERS[peer]
        prepare, query, distances = run(vertices, faces, points)
    except (ImportError, OSError) as reason:
        print(reason, file=sys.stderr)
        sys.exit(3)
    np.asarray(distances, dtype=np.float64).ravel().tofile(folder / f"{task}.{peer}.out")
    report = {"peer": peer, "task": task, "version": version(package), "prepare": prepare, "query": query, "count": len(points)}
    print(json.dumps(report))


def least(work):
    """Result and CPU seconds of the best of up to three runs, fewer when they are long: as the Rust side does."""
    best, total = None, 0.0
    for _ in range(3):
        start = time.process_time()
        result = work()
        spent = time.process_time() - start
        total += spent
        if best is None or spent < best[1]:
            best = (result, spent)
        if total > 20.0:
            break
    return best


def run_open3d(vertices, faces, points):
    """Embree; the sign by one ray a point, as by default."""
    preload_libusb()
    import open3d

    vertices = open3d.core.Tensor(vertices.astype(np.float32))
    faces = open3d.core.Tensor(faces)
    points = open3d.core.Tensor(points.astype(np.float32))

    def build():
        scene = open3d.t.geometry.RaycastingScene()
        scene.add_triangles(vertices, faces)
        # The hierarchy is built by the first query.
        scene.compute_distance(points[:1])
        return scene

    scene, prepare = least(build)
    distances, query = least(lambda: scene.compute_signed_distance(points))
    return prepare, query, distances.numpy()


def preload_libusb():
    """Open3D's wheel wants libusb for depth cameras, and many servers have none; the one from PyPI will do."""
    import ctypes

    try:
        import libusb_package

        ctypes.CDLL(str(libusb_package.get_library_path()), mode=ctypes.RTLD_GLOBAL)
    except (ImportError, OSError):
        pass


def libigl(sign_type):
    def run(vertices, faces, points):
        import igl

        faces = faces.astype(np.int64)
        call = lambda points: igl.signed_distance(points, vertices, faces, getattr(igl, sign_type))
        # It builds its search structures anew in every call: what a single point takes.
        _, prepare = least(lambda: call(points[:1]))
        result, both = least(lambda: call(points))
        return prepare, max(both - prepare, 0.0), result[0]

    return run


def run_warp(vertices, faces, points):
    """The sign by angle-weighted pseudonormals; the CPU device uses one thread."""
    from warp_kernel import signed_distances, wp

    def build():
        return wp.Mesh(
            points=wp.array(vertices, dtype=wp.vec3, device="cpu"),
            indices=wp.array(faces.ravel(), dtype=wp.int32, device="cpu"),
        )

    mesh, prepare = least(build)
    points = wp.array(points, dtype=wp.vec3, device="cpu")
    distances = wp.empty(len(points), dtype=wp.float32, device="cpu")
    reach = float(np.linalg.norm(np.ptp(vertices, axis=0))) * 10.0

    def launch():
        wp.launch(signed_distances, dim=len(points), inputs=[mesh.id, points, reach], outputs=[distances], device="cpu")
        wp.synchronize_device("cpu")

    # The kernel is compiled when its module is loaded: not part of the work.
    wp.load_module(device="cpu", module="warp_kernel")
    _, query = least(launch)
    return prepare, query, distances.numpy()


def run_pysdf(vertices, faces, points):
    """The sign by rays in a few directions or the nearest normal; positive inside, hence the minus."""
    import pysdf

    vertices, points = vertices.astype(np.float32), points.astype(np.float32)
    sdf, prepare = least(lambda: pysdf.SDF(vertices, faces))
    distances, query = least(lambda: sdf(points, n_threads=1))
    return prepare, query, -distances


PEERS = {
    "open3d": ("open3d", run_open3d),
    "libigl": ("libigl", libigl("SIGNED_DISTANCE_TYPE_PSEUDONORMAL")),
    "libigl-winding": ("libigl", libigl("SIGNED_DISTANCE_TYPE_FAST_WINDING_NUMBER")),
    "warp": ("warp-lang", run_warp),
    "pysdf": ("pysdf", run_pysdf),
}

if __name__ == "__main__":
    main()
