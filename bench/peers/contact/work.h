// The work that every C++ peer gets, and how it reports: `peer FOLDER TASK REGIME`.
//
// Input: `vertices.f64`, `faces.u32` and `REGIME.poses.csv` as `contact_poses` wrote them. Output: `REGIME.TASK.PEER.out` (a f64 for every pose), and a
// line of JSON with CPU seconds. Tasks: `contacts` (all it finds; the number of those that touch), `first` (touching or not: 1 or 0), `distance` [m].
#pragma once
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

struct Pose {
    double translation[3];
    double rotation[4];  // x, y, z, w
};

struct Work {
    std::string folder, task, regime;
    std::vector<double> vertices;
    std::vector<uint32_t> faces;
    std::vector<Pose> poses;
};

template <typename Number>
std::vector<Number> read_numbers(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    const Number* first = reinterpret_cast<const Number*>(bytes.data());
    return {first, first + bytes.size() / sizeof(Number)};
}

inline Work read_work(int count, char** arguments) {
    if (count != 4) throw std::runtime_error("peer FOLDER contacts|first|distance REGIME");
    Work work{arguments[1], arguments[2], arguments[3], {}, {}, {}};
    work.vertices = read_numbers<double>(work.folder + "/vertices.f64");
    work.faces = read_numbers<uint32_t>(work.folder + "/faces.u32");
    std::ifstream file(work.folder + "/" + work.regime + ".poses.csv");
    for (std::string line; std::getline(file, line);) {
        Pose p;
        if (std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf,%lf,%lf", p.translation, p.translation + 1, p.translation + 2, p.rotation, p.rotation + 1,
                        p.rotation + 2, p.rotation + 3) != 7)
            throw std::runtime_error("not a pose: " + line);
        work.poses.push_back(p);
    }
    if (work.poses.empty()) throw std::runtime_error("no poses of " + work.regime);
    return work;
}

inline double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

// Every pose once, up to three times over, fewer when that is long: the fastest run counts, as for everybody.
template <typename Answer>
void run(const Work& work, const char* peer, const char* version, double prepare, Answer answer) {
    std::vector<double> values(work.poses.size());
    double best = 1e300, total = 0.0;
    for (int round = 0; round < 3 && total < 20.0; ++round) {
        double start = cpu_seconds();
        for (size_t i = 0; i < work.poses.size(); ++i) values[i] = answer(work.poses[i]);
        double spent = cpu_seconds() - start;
        total += spent;
        if (spent < best) best = spent;
    }
    std::ofstream file(work.folder + "/" + work.regime + "." + work.task + "." + peer + ".out", std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    std::printf("{\"peer\": \"%s\", \"task\": \"%s\", \"regime\": \"%s\", \"version\": \"%s\", \"prepare\": %g, \"query\": %.9g, \"count\": %zu}\n", peer,
                work.task.c_str(), work.regime.c_str(), version, prepare, best, work.poses.size());
}
