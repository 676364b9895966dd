"""Simulates a scene by MuJoCo: `simulators.py FOLDER SCENE STEP`.

Reads SCENE.json of `simulators prepare`, writes SCENE.mujoco-sdf.STEP.states in the form that
`simulators judge` reads, and prints one line of JSON with the CPU seconds of all steps. Meshes are
SDF geoms; all options but the step are MuJoCo's defaults. MuJoCo has no restitution.
"""

import json
import struct
import sys
import time
from pathlib import Path

import mujoco
import numpy as np


def numbers(values):
    return " ".join(repr(float(value)) for value in values)


def wxyz(rotation):
    x, y, z, w = rotation
    return [w, x, y, z]


def geom(shape, friction):
    """Returns the XML of a geom."""
    friction = f'friction="{friction} 0 0" condim="3"'
    match shape["kind"]:
        case "sphere" | "box":
            return f'<geom type="{shape["kind"]}" size="{numbers(shape["size"])}" {friction}/>'
        case "half_space":
            x, y, z = shape["normal"]
            return f'<geom type="plane" size="0 0 1" zaxis="{x} {y} {z}" {friction}/>'
        case "mesh":
            return f'<geom type="sdf" mesh="{Path(shape["file"]).stem}" {friction}/>'


def model_of(folder, scene, step):
    """Returns the scene as MJCF."""
    files = sorted({body["shape"]["file"] for body in scene["bodies"] if body["shape"]["kind"] == "mesh"})
    meshes = "".join(f'<mesh name="{Path(file).stem}" file="{folder.resolve() / file}"/>' for file in files)
    bodies = []
    for body in scene["bodies"]:
        place, rotation = body["pose"][:3], wxyz(body["pose"][3:])
        inside = geom(body["shape"], body["friction"])
        if body["free"]:
            inertial = f'<inertial pos="{numbers(body["center"])}" mass="{body["mass"]}" fullinertia="{numbers(body["inertia"])}"/>'
            inside = f"<freejoint/>{inertial}{inside}"
        bodies.append(f'<body name="{body["name"]}" pos="{numbers(place)}" quat="{numbers(rotation)}">{inside}</body>')
    return f"""<mujoco>
  <option timestep="{step}" gravity="{numbers(scene["gravity"])}"/>
  <size memory="512M"/>
  <asset>{meshes}</asset>
  <worldbody>{"".join(bodies)}</worldbody>
</mujoco>"""


def main():
    folder, name, step = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    scene = json.loads((folder / f"{name}.json").read_text())
    model = mujoco.MjModel.from_xml_string(model_of(folder, scene, step))
    data = mujoco.MjData(model)
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body["name"]) for body in scene["bodies"]]
    mujoco.mj_forward(model, data)
    stride = max(1, round(scene["record_every"] / step))
    rows = []

    def record(number):
        row = [number * step]
        velocity = np.zeros(6)
        # Poses and velocities of the state, not of the step before.
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        for index in ids:
            w, x, y, z = data.xquat[index]
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, index, velocity, 0)
            row += [*data.xpos[index], x, y, z, w, *velocity[3:], *velocity[:3]]
        rows.append(row)

    record(0)
    spent = 0.0
    for number in range(1, round(scene["seconds"] / step) + 1):
        start = time.process_time()
        mujoco.mj_step(model, data)
        spent += time.process_time() - start
        if number % stride == 0:
            record(number)
    flat = [number for row in rows for number in row]
    label = f"{step:g}"
    (folder / f"{name}.mujoco-sdf.{label}.states").write_bytes(struct.pack(f"<{len(flat)}d", *flat))
    warnings = {mujoco.mjtWarning(kind).name: int(data.warning[kind].number) for kind in range(len(data.warning)) if data.warning[kind].number}
    print(json.dumps({"cpu_s": spent, "version": mujoco.__version__, "warnings": warnings}))


main()
