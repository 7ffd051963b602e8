#include "qkv/course/worked.h"

#include <algorithm>

#include "core/listed.h"
#include "course/seeds.h"
#include "qkv/error.h"

namespace qkv {
namespace {

const std::vector<worked::Entry>& entries() {
  static const std::vector<worked::Entry> kEntries = [] {
    std::vector<worked::Entry> all;
    for (const auto& of_seed :
         {worked::foundations(), worked::scratch_notebook(), worked::scratch_remarks(), worked::math_notebook(),
          worked::chapter(), worked::chapter_code(), worked::before_attention(), worked::lab(), worked::lab_sizes(),
          worked::pitfalls(), worked::slides()}) {
      all.insert(all.end(), of_seed.begin(), of_seed.end());
    }
    return all;
  }();
  return kEntries;
}

}  // namespace

std::string_view name_of(Agreement agreement) noexcept {
  switch (agreement) {
    case Agreement::agrees:
      return "agrees";
    case Agreement::rounding:
      return "rounding";
    case Agreement::wrong:
      return "wrong";
    case Agreement::not_derivable:
      return "not derivable";
  }
  __builtin_unreachable();
}

const std::vector<WorkedExample>& worked_examples() {
  static const std::vector<WorkedExample> kExamples = [] {
    std::vector<WorkedExample> examples;
    for (const worked::Entry& entry : entries()) examples.push_back(entry.example);
    return examples;
  }();
  return kExamples;
}

Worked run_worked(std::string_view name) {
  const auto found =
      std::find_if(entries().begin(), entries().end(), [&](const auto& entry) { return entry.example.name == name; });
  if (found == entries().end()) {
    throw InvalidArgument("run_worked", "worked", "one of " + core::joined(worked_examples(), &WorkedExample::name),
                          "\"" + std::string(name) + "\"");
  }
  Worked worked{found->example, {}, {}};
  found->compute(worked);
  return worked;
}

}  // namespace qkv
