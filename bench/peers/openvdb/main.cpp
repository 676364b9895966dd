// OpenVDB's narrow-band baker on the mesh that `ours prepare` wrote: one row of JSON for each cell size.
//
//   openvdb-peer WORK CELL_SIZE BAND
//
// One thread; CPU seconds of meshToLevelSet alone, best of three.
#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <sys/resource.h>
#include <tbb/global_control.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

template <typename T> static std::vector<T> read_all(const std::string &path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) {
        std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
        std::exit(2);
    }
    std::vector<T> values(static_cast<size_t>(file.tellg()) / sizeof(T));
    file.seekg(0);
    file.read(reinterpret_cast<char *>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    return values;
}

static double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: openvdb-peer WORK CELL_SIZE BAND\n");
        return 2;
    }
    const std::string work = argv[1];
    const double cell = std::atof(argv[2]), band = std::atof(argv[3]);
    tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    openvdb::initialize();
    const auto vertices = read_all<double>(work + "/vertices.f64");
    const auto faces = read_all<uint32_t>(work + "/faces.u32");
    std::vector<openvdb::Vec3s> points(vertices.size() / 3);
    for (size_t i = 0; i < points.size(); ++i) {
        points[i] = openvdb::Vec3s(float(vertices[3 * i]), float(vertices[3 * i + 1]), float(vertices[3 * i + 2]));
    }
    std::vector<openvdb::Vec3I> triangles(faces.size() / 3);
    for (size_t i = 0; i < triangles.size(); ++i) {
        triangles[i] = openvdb::Vec3I(faces[3 * i], faces[3 * i + 1], faces[3 * i + 2]);
    }
    const auto transform = openvdb::math::Transform::createLinearTransform(cell);
    double best = 1e300;
    size_t voxels = 0, bytes = 0;
    for (int turn = 0; turn < 3; ++turn) {
        const double start = cpu_seconds();
        const auto grid = openvdb::tools::meshToLevelSet<openvdb::FloatGrid>(*transform, points, triangles, float(band));
        best = std::min(best, cpu_seconds() - start);
        voxels = grid->activeVoxelCount();
        bytes = grid->memUsage();
    }
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf("{\"peer\":\"openvdb\",\"cell_size\":%.9g,\"band\":%g,\"cpu_seconds\":%.4f,\"active_voxels\":%zu,\"bytes\":%zu,\"peak_bytes\":%ld}\n",
                cell, band, best, voxels, bytes, usage.ru_maxrss * 1024L);
    return 0;
}
