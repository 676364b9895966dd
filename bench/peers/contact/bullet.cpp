// Bullet: GImpact on the mesh, or, with -DCOMPOUND, a compound of convex hulls, those of parry's V-HACD, written as `hulls.txt`. In float. See work.h.
//
// Each pose is asked about on its own, by the algorithm that a world would use, made anew: poses have nothing to do with each other. Margins are 0, so that all are
// asked about the same solid. Points are counted as they are found, before the manifold keeps four of them.
#include "work.h"

#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <BulletCollision/CollisionShapes/btShapeHull.h>
#include <btBulletCollisionCommon.h>

#include <memory>
#include <stdexcept>

struct Count : btManifoldResult {
    int touching = 0;
    using btManifoldResult::btManifoldResult;
    void addContactPoint(const btVector3& normal, const btVector3& point, btScalar depth) override {
        touching += depth <= 0;
        btManifoldResult::addContactPoint(normal, point, depth);
    }
};

// With -DTHINNED each has 42 points, by `btShapeHull`, as Bullet's manual has it: support is a walk over all points, and these hulls have up to a thousand. They are smaller then.
static std::unique_ptr<btCompoundShape> hulls(const std::string& path, std::vector<std::unique_ptr<btConvexHullShape>>& parts) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path + ": run parry-hulls first");
    auto compound = std::make_unique<btCompoundShape>();
    for (size_t points; file >> points;) {
        btConvexHullShape whole;
        for (btScalar x, y, z; points > 0 && file >> x >> y >> z; --points) whole.addPoint(btVector3(x, y, z), false);
        whole.setMargin(0);
        whole.recalcLocalAabb();
#ifdef THINNED
        btShapeHull thinned(&whole);
        thinned.buildHull(0);
        auto part = std::make_unique<btConvexHullShape>(&thinned.getVertexPointer()->x(), thinned.numVertices());
#else
        auto part = std::make_unique<btConvexHullShape>(whole);
#endif
        part->setMargin(0);
        compound->addChildShape(btTransform::getIdentity(), part.get());
        parts.push_back(std::move(part));
    }
    return compound;
}

int main(int count, char** arguments) try {
    Work work = read_work(count, arguments);
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDispatcherInfo info;
    double start = cpu_seconds();
#ifdef COMPOUND
#ifdef THINNED
    const char* name = "bullet-hulls-42";
#else
    const char* name = "bullet-hulls";
#endif
    std::vector<std::unique_ptr<btConvexHullShape>> parts;
    auto shape = hulls(work.folder + "/hulls.txt", parts);
#else
    const char* name = "bullet-gimpact";
    btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher);
    std::vector<btScalar> points(work.vertices.begin(), work.vertices.end());
    std::vector<int> corners(work.faces.begin(), work.faces.end());
    btTriangleIndexVertexArray mesh(corners.size() / 3, corners.data(), 3 * sizeof(int), points.size() / 3, points.data(), 3 * sizeof(btScalar));
    auto shape = std::make_unique<btGImpactMeshShape>(&mesh);
    shape->setMargin(0);
    shape->updateBound();
#endif
    double prepare = cpu_seconds() - start;
    btCollisionObject a, b;
    a.setCollisionShape(shape.get());
    b.setCollisionShape(shape.get());
    if (work.task != "contacts") throw std::runtime_error("contacts only");
    char version[16];
    std::snprintf(version, sizeof version, "%d.%02d", btGetVersion() / 100, btGetVersion() % 100);
    run(work, name, version, prepare, [&](const Pose& p) {
        btQuaternion rotation(p.rotation[0], p.rotation[1], p.rotation[2], p.rotation[3]);
        b.setWorldTransform(btTransform(rotation, btVector3(p.translation[0], p.translation[1], p.translation[2])));
        btCollisionObjectWrapper wrapped_a(nullptr, shape.get(), &a, a.getWorldTransform(), -1, -1);
        btCollisionObjectWrapper wrapped_b(nullptr, shape.get(), &b, b.getWorldTransform(), -1, -1);
        btCollisionAlgorithm* algorithm = dispatcher.findAlgorithm(&wrapped_a, &wrapped_b, nullptr, BT_CONTACT_POINT_ALGORITHMS);
        Count found(&wrapped_a, &wrapped_b);
        algorithm->processCollision(&wrapped_a, &wrapped_b, info, &found);
        algorithm->~btCollisionAlgorithm();
        dispatcher.freeCollisionAlgorithm(algorithm);
        return double(found.touching);
    });
} catch (const std::exception& reason) {
    std::fprintf(stderr, "%s\n", reason.what());
    return 1;
}
