#include "qkv/api/studio.h"

#include "../owning_probe.h"
#include "models.h"
#include "qkv/api/asking.h"

namespace qkv::python {
namespace {

// Answers by calls of hear(frames): bytes, and False once nobody waits any more.
bool asked(Studio& self, const std::string& name, const std::string& request, const nb::object& hear) {
  const Ask ask = [&self](std::string_view question, std::string_view fields, const StudioWatch& watch) {
    return self.ask(question, fields, watch);
  };
  const Listener listener{.is_there =
                              [&] {
                                const nb::gil_scoped_acquire gil;
                                return nb::cast<bool>(hear(nb::none()));
                              },
                          .hear =
                              [&](std::string_view frame) {
                                const nb::gil_scoped_acquire gil;
                                return nb::cast<bool>(hear(nb::bytes(frame.data(), frame.size())));
                              }};
  return freely([&] { return answer_in_frames(ask, name, request, listener); });
}

}  // namespace

void add_studio(nb::module_& module) {
  nb::class_<Studio>(module, "Studio")
      .def(
          "__init__",
          [](Studio* self, const std::string& model, const std::string& text) {
            new (self) Studio({.model = model, .text = text});
          },
          nb::arg("model"), nb::arg("text"))
      .def(
          "__init__",
          [](Studio* self, const OwningProbe& probe, const std::string& title, const std::vector<std::string>& queries,
             const std::vector<std::string>& keys) {
            const QueryRange all{.begin = 0, .end = probe.probe.shape().Tq};
            new (self) Studio({.text = {},
                               .probe = std::make_shared<ShownProbe>(ShownProbe{.title = title,
                                                                                .queries = queries,
                                                                                .keys = keys,
                                                                                .mask = probe.mask,
                                                                                .probe = probe.probe.of_queries(all),
                                                                                .viewed = probe.viewed})});
          },
          nb::arg("probe"), nb::arg("title"), nb::arg("queries"), nb::arg("keys"))
      .def("ask", &asked, nb::arg("name"), nb::arg("request"), nb::arg("hear"),
           nb::sig("def ask(self, name: str, request: str, hear: collections.abc.Callable[[bytes | None], bool]) -> "
                   "bool"));
}

}  // namespace qkv::python
