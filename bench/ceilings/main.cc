// ceilings [--threads N]… [--json FILE]: measures what bounds attention on this machine, and prints it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "ceilings/measure.h"
#include "ceilings/rate.h"
#include "qkv/files.h"
#include "qkv/info.h"

namespace {

nlohmann::ordered_json to_json(const std::vector<qkv::bench::Ceiling>& ceilings) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const qkv::bench::Ceiling& ceiling : ceilings) {
    rows.push_back({{"name", ceiling.name},
                    {"target", ceiling.target},
                    {"threads", ceiling.threads},
                    {"value", ceiling.value},
                    {"unit", ceiling.unit},
                    {"detail", ceiling.detail},
                    {"mebibytes", ceiling.mebibytes}});
  }
  return {{"cpu", qkv::cpu_model()}, {"ceilings", rows}};
}

void print(const std::vector<qkv::bench::Ceiling>& ceilings) {
  fmt::print("{}\n{:14}  {:6}  {:>7}  {:>9}  {:7}  {}\n", qkv::cpu_model(), "ceiling", "target", "threads", "median",
             "unit", "what was run");
  for (const qkv::bench::Ceiling& ceiling : ceilings) {
    const std::string size = ceiling.mebibytes > 0 ? fmt::format("{:.0f} MiB, ", ceiling.mebibytes) : "";
    fmt::print("{:14}  {:6}  {:7}  {:9.1f}  {:7}  {}{}\n", ceiling.name, ceiling.target, ceiling.threads, ceiling.value,
               ceiling.unit, size, ceiling.detail);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Measures what bounds attention on this machine: medians of 9 samples of 20 ms.");
  std::vector<int> threads;
  std::string json;
  app.add_option("--threads", threads, "Numbers of threads; 1 and 2 where not given")
      ->check(CLI::Range(1, qkv::bench::usable_processors()));
  app.add_option("--json", json, "Writes the figures there as well");
  CLI11_PARSE(app, argc, argv);
  if (threads.empty()) {
    threads = {1};
    if (qkv::bench::usable_processors() > 1) threads.push_back(2);
  }
  const std::vector<qkv::bench::Ceiling> ceilings = qkv::bench::measure_ceilings(threads);
  print(ceilings);
  if (!json.empty()) qkv::write_file(json, to_json(ceilings).dump(2) + "\n");
  return 0;
} catch (const std::exception& error) {
  std::fputs("ceilings: ", stderr);
  std::fputs(error.what(), stderr);
  std::fputs("\n", stderr);
  return 1;
}
