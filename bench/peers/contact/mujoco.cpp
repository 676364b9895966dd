// MuJoCo: its own octree of distances, on both bodies, with the defaults of its options. In double. See work.h.
//
// A free body is put in place; `mj_kinematics` (about a microsecond) is part of the time.
#include "work.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <stdexcept>

int main(int count, char** arguments) try {
    Work work = read_work(count, arguments);
    if (work.task != "contacts") throw std::runtime_error("contacts only");
    std::string scene = work.folder + "/scene.xml";
    std::ofstream(scene) << R"(<mujoco>
  <asset><mesh name="mesh" file="mesh.obj"/></asset>
  <worldbody>
    <body><geom type="sdf" mesh="mesh"/></body>
    <body><freejoint/><geom type="sdf" mesh="mesh"/></body>
  </worldbody>
</mujoco>)";
    char error[1000] = "";
    double start = cpu_seconds();
    mjModel* model = mj_loadXML(scene.c_str(), nullptr, error, sizeof error);
    if (!model) throw std::runtime_error(error);
    double prepare = cpu_seconds() - start;
    std::fprintf(stderr, "%ld octree nodes, sdf_initpoints %d, sdf_iterations %d\n", long(model->noct), model->opt.sdf_initpoints, model->opt.sdf_iterations);
    mjData* data = mj_makeData(model);
    run(work, "mujoco-sdf", mj_versionString(), prepare, [&](const Pose& p) {
        std::copy(p.translation, p.translation + 3, data->qpos);
        data->qpos[3] = p.rotation[3];
        std::copy(p.rotation, p.rotation + 3, data->qpos + 4);
        mj_kinematics(model, data);
        mj_collision(model, data);
        return double(std::count_if(data->contact, data->contact + data->ncon, [](const mjContact& contact) { return contact.dist <= 0; }));
    });
    mj_deleteData(data);
    mj_deleteModel(model);
} catch (const std::exception& reason) {
    std::fprintf(stderr, "%s\n", reason.what());
    return 1;
}
