"""The kernel of the Warp peer: a file of its own, because Warp compiles whole modules."""

import warp as wp

wp.config.quiet = True


@wp.kernel
def signed_distances(
    mesh: wp.uint64,
    points: wp.array(dtype=wp.vec3),
    reach: float,
    distances: wp.array(dtype=float),
):
    i = wp.tid()
    point = points[i]
    query = wp.mesh_query_point_sign_normal(mesh, point, reach)
    if query.result:
        nearest = wp.mesh_eval_position(mesh, query.face, query.u, query.v)
        distances[i] = query.sign * wp.length(point - nearest)
    else:
        distances[i] = wp.nan
