#include "server/serve.h"

#include <malloc.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "qkv/files.h"

namespace qkv::bench {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

DType dtype_named(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    if (name_of(dtype) == name) return dtype;
  }
  throw std::invalid_argument("dtype " + name + ": expected one of f32, bf16, f16, i8");
}

Call call_named(const std::string& name) {
  if (name == "forward") return Call::forward;
  if (name == "backward") return Call::backward;
  if (name == "both") return Call::both;
  throw std::invalid_argument("call " + name + ": expected one of forward, backward, both");
}

// A line of /proc/self/status in bytes.
std::int64_t memory_of_process(const std::string& line_name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(line_name + ":")) continue;
    std::istringstream rest(line.substr(line_name.size() + 1));
    std::int64_t kibibytes = 0;
    rest >> kibibytes;
    return kibibytes * 1024;
  }
  throw std::runtime_error("/proc/self/status has no " + line_name);
}

class Session {
 public:
  explicit Session(Engine& engine) : engine_(engine) {}

  Json answer(const Json& request) {
    const std::string what = request.at("do");
    if (what == "load") return load(request);
    if (what == "prepare") return prepare(request);
    if (what == "time") return time(request.at("repeats"));
    if (what == "save") return save(request.at("files"));
    if (what == "memory") return memory();
    throw std::invalid_argument("unknown request " + what);
  }

 private:
  Json load(const Json& request) {
    problem_.i8_cache = request.at("dtype") == name_of(DType::i8);
    const DType dtype = problem_.i8_cache ? DType::f32 : dtype_named(request.at("dtype"));
    problem_.q = read_tensor(request.at("q")).to(dtype);
    problem_.k = read_tensor(request.at("k")).to(dtype);
    problem_.v = read_tensor(request.at("v")).to(dtype);
    problem_.d_out = request.contains("d_out") ? read_tensor(request.at("d_out")).to(dtype) : Tensor();
    return Json::object();
  }

  Json prepare(const Json& request) {
    problem_.call = call_named(request.at("call"));
    problem_.mask = request.at("mask");
    problem_.dense_bias = request.value("dense_bias", false);
    problem_.dropout = request.value("dropout", 0.0);
    problem_.lengths = request.value("lengths", std::vector<std::int64_t>());
    problem_.threads = request.at("threads");
    engine_.prepare(problem_);
    return Json::object();
  }

  Json time(int repeats) {
    const auto start = Clock::now();
    for (int repeat = 0; repeat < repeats; ++repeat) engine_.run(problem_);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    engine_.rest();
    return {{"seconds", seconds / repeats}};
  }

  Json save(const std::vector<std::string>& paths) {
    const std::vector<TensorView> results = engine_.results(problem_);
    if (results.size() != paths.size()) throw std::invalid_argument(std::to_string(results.size()) + " results");
    for (std::size_t n = 0; n < paths.size(); ++n) write_tensor(paths[n], Tensor(results[n], DType::f32));
    return Json::object();
  }

  Json memory() {
    malloc_trim(0);                                 // what loading has freed would otherwise be taken again unseen
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts again at what is held now
    const std::int64_t before = memory_of_process("VmRSS");
    const Json taken = time(1);
    const std::int64_t growth = memory_of_process("VmHWM") - before;
    return {{"peak_growth", std::max<std::int64_t>(0, growth)},
            {"results", engine_.allocated_result_bytes()},
            {"scratch", engine_.scratch_bytes(problem_)},
            {"seconds", taken.at("seconds")}};
  }

  Engine& engine_;
  Problem problem_;
};

}  // namespace

void serve(Engine& engine) {
  Session session(engine);
  for (std::string line; std::getline(std::cin, line);) {
    Json answer;
    try {
      answer = session.answer(Json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump() << '\n' << std::flush;
  }
}

}  // namespace qkv::bench
