#include "report.h"

#include <algorithm>

#include "models.h"
#include "python_writer.h"

namespace qkv::python {
namespace {

std::vector<std::string> names_of(const Report& report) {
  std::vector<std::string> names;
  for (const auto& [name, draw] : report.pictures) names.push_back(name);
  return names;
}

std::string svg_of(const Report& report, const std::string& name) {
  const auto found = std::ranges::find(report.pictures, name, &std::pair<std::string, Report::Draw>::first);
  if (found != report.pictures.end()) return found->second();
  std::string names;
  for (const std::string& one : names_of(report)) names += (names.empty() ? "" : ", ") + one;
  throw InvalidArgument("svg", "name", names.empty() ? "none: there is no picture" : "one of " + names, name);
}

}  // namespace

void add_report(nb::module_& module) {
  nb::class_<Report>(module, "Report")
      .def_prop_ro(
          "data", [](const Report& report) { return object_of(report.reply); },
          nb::sig("def data(self) -> dict[str, typing.Any]"))
      .def_ro("table", &Report::table)
      .def_prop_ro("pictures", &names_of)
      .def("svg", &svg_of, nb::arg("name"));
}

}  // namespace qkv::python
