// qkv check: two files, element by element.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "check_report.h"
#include "commands.h"
#include "misuse.h"
#include "output.h"
#include "qkv/files.h"

namespace qkv::cli {
namespace {

struct CheckFlags {
  std::string a, b;
  Tolerance tolerance;
  bool json = false;
  bool quiet = false;
};

const NamedTensor* find(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const NamedTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

// Tensors meet by their names; where each side has but one, they meet whatever they are called.
CheckReport compare_files(const CheckFlags& flags) {
  const std::vector<NamedTensor> a = read_tensors(flags.a);
  const std::vector<NamedTensor> b = read_tensors(flags.b);
  CheckReport report{.a = flags.a, .b = flags.b, .tolerance = flags.tolerance, .pairs = {}, .only_a = {}, .only_b = {}};
  if (a.size() == 1 && b.size() == 1) {
    const std::string name = a.front().name == b.front().name ? a.front().name : "";
    report.pairs.push_back(compare(name, a.front().tensor, b.front().tensor, flags.tolerance));
    return report;
  }
  for (const NamedTensor& tensor : a) {
    if (const NamedTensor* other = find(b, tensor.name)) {
      report.pairs.push_back(compare(tensor.name, tensor.tensor, other->tensor, flags.tolerance));
    } else {
      report.only_a.push_back(tensor.name);
    }
  }
  for (const NamedTensor& tensor : b) {
    if (find(a, tensor.name) == nullptr) report.only_b.push_back(tensor.name);
  }
  return report;
}

void require_tolerance(const std::string& option, double value) {
  if (!(value >= 0) || std::isinf(value)) misuse(option, "a finite number, 0 or more", fmt::to_string(value));
}

void run(const CheckFlags& flags) {
  require_tolerance("--rtol", flags.tolerance.relative);
  require_tolerance("--atol", flags.tolerance.absolute);
  const CheckReport report = compare_files(flags);
  if (!flags.quiet) print(flags.json ? as_json(report) : as_text(report));
  throw Exit{.code = report.equal() ? kSuccess : kFailure};
}

}  // namespace

void add_check(CLI::App& app) {
  CLI::App* command = app.add_subcommand("check", "Compare two files and print the worst place");
  command->group("Compute");
  command->footer(
      "Equal is |A - B| <= atol + rtol * |B| everywhere, and the same shapes and\n"
      "element types. Infinities are equal to themselves, NaN to NaN. Archives (.npz,\n"
      ".safetensors) are compared member by member.\n"
      "Exit codes: 0 equal, 1 different or unreadable, 2 the request has no meaning.\n\n"
      "Example:\n  qkv check o.npy expected.npz:out --rtol 1e-4 --atol 1e-6");
  const auto flags = std::make_shared<CheckFlags>();
  command->add_option("A", flags->a, "A file: FILE.npy, FILE.npz[:NAME] or FILE.safetensors[:NAME]")->required();
  command->add_option("B", flags->b, "What it should be")->required();
  command->add_option("--rtol", flags->tolerance.relative, "Allowed relative to |B| [1e-5]")->type_name("X");
  command->add_option("--atol", flags->tolerance.absolute, "Allowed on top [1e-8]")->type_name("X");
  command->add_flag("--nan-differs", flags->tolerance.nan_differs, "NaN differs from NaN");
  command->add_flag("--any-dtype", flags->tolerance.any_dtype, "Element types may differ");
  auto* json = command->add_flag("--json", flags->json, "Print JSON");
  command->add_flag("--quiet", flags->quiet, "Print nothing; the exit code tells")->excludes(json);
  command->callback([flags] { run(*flags); });
}

}  // namespace qkv::cli
