// FCL, or Coal, its successor, with -DCOAL: triangle meshes under trees of boxes, in double. See work.h.
#include "work.h"

#include <stdexcept>
#ifdef COAL
#include <coal/BVH/BVH_model.h>
#include <coal/collision.h>
#include <coal/config.hh>
#include <coal/distance.h>
namespace library = coal;
using Box = coal::OBBRSS;
using Triangle = coal::Triangle;
using Transform = coal::Transform3s;
using Vector = coal::Vec3s;
using Quaternion = Eigen::Quaternion<coal::CoalScalar>;
using Model = coal::BVHModel<Box>;
using CollisionRequest = coal::CollisionRequest;
using CollisionResult = coal::CollisionResult;
using DistanceRequest = coal::DistanceRequest;
using DistanceResult = coal::DistanceResult;
static const char* NAME = "coal";
static const char* VERSION = COAL_VERSION;
#else
#include <fcl/fcl.h>
namespace library = fcl;
using Box = fcl::OBBRSSd;
using Triangle = fcl::Triangle;
using Transform = fcl::Transform3d;
using Vector = fcl::Vector3d;
using Quaternion = fcl::Quaterniond;
using Model = fcl::BVHModel<Box>;
using CollisionRequest = fcl::CollisionRequestd;
using CollisionResult = fcl::CollisionResultd;
using DistanceRequest = fcl::DistanceRequestd;
using DistanceResult = fcl::DistanceResultd;
static const char* NAME = "fcl";
static const char* VERSION = FCL_VERSION;
#endif

static Transform transform_of(const Pose& p) {
    Quaternion rotation(p.rotation[3], p.rotation[0], p.rotation[1], p.rotation[2]);
    Vector translation(p.translation[0], p.translation[1], p.translation[2]);
#ifdef COAL
    return Transform(rotation.toRotationMatrix(), translation);
#else
    Transform transform = Transform::Identity();
    transform.linear() = rotation.toRotationMatrix();
    transform.translation() = translation;
    return transform;
#endif
}

static CollisionRequest request_for(const std::string& task) {
    CollisionRequest request;
    // More than there can be: all contacts. Or the first, and nothing about it.
    request.num_max_contacts = task == "contacts" ? 1000000 : 1;
    request.enable_contact = task == "contacts";
    return request;
}

int main(int count, char** arguments) try {
    Work work = read_work(count, arguments);
    std::vector<Vector> points;
    std::vector<Triangle> triangles;
    for (size_t i = 0; i < work.vertices.size(); i += 3) points.emplace_back(work.vertices[i], work.vertices[i + 1], work.vertices[i + 2]);
    for (size_t i = 0; i < work.faces.size(); i += 3) triangles.emplace_back(work.faces[i], work.faces[i + 1], work.faces[i + 2]);
    double start = cpu_seconds();
    Model model;
    model.beginModel(triangles.size(), points.size());
    model.addSubModel(points, triangles);
    model.endModel();
    double prepare = cpu_seconds() - start;
    const Transform here = Transform::Identity();
    if (work.task == "distance") {
        // Exact: its tolerances have no effect on meshes (tried: the same digits, the same time).
        DistanceRequest request;
        run(work, NAME, VERSION, prepare, [&](const Pose& pose) {
            DistanceResult result;
            return double(library::distance(&model, here, &model, transform_of(pose), request, result));
        });
    } else {
        CollisionRequest request = request_for(work.task);
        run(work, NAME, VERSION, prepare, [&](const Pose& pose) {
            CollisionResult result;
            library::collide(&model, here, &model, transform_of(pose), request, result);
            return double(work.task == "contacts" ? result.numContacts() : result.isCollision());
        });
    }
} catch (const std::exception& reason) {
    std::fprintf(stderr, "%s\n", reason.what());
    return 1;
}
