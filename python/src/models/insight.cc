#include <memory>
#include <variant>

#include "../arrays.h"
#include "../said_as.h"
#include "asking.h"
#include "qkv/api/change.h"
#include "qkv/api/lens.h"
#include "qkv/api/roles.h"
#include "qkv/insight/report.h"
#include "qkv/insight/rollout.h"
#include "report.h"

namespace qkv::python {
namespace {

Report drawn(AnyReply reply, std::string table, Panel panel) {
  Report report{.reply = std::move(reply), .table = std::move(table)};
  report.pictures.emplace_back("map", [panel = std::move(panel)] { return to_svg(panel); });
  return report;
}

Report report_of(const AnalyzeRequest& request, const Saying& saying) {
  const HeadsFound found = found_heads(request, saying);
  const std::string& texts = found.texts.described;
  Report report{.reply = any_reply(roles_reply(*found.analysis, request.model, texts)),
                .table = heads_table(*found.analysis, request.model, texts)};
  for (Drawing& one : heads_drawings(found)) report.pictures.emplace_back(one.name, std::move(one.svg));
  return report;
}

Report report_of(const ChangeRequest& request, const Saying& saying) {
  const ChangeFound found = found_change(request, saying);
  const AnyReply reply = change_reply(found, request.model);
  if (const auto* sweep = std::get_if<Sweep>(&found.change)) {
    return drawn(reply, sweep_table(*sweep), sweep_panel(*sweep, request));
  }
  if (const auto* one = std::get_if<TextChange>(&found.change)) {
    return {.reply = reply, .table = change_table(*one, found.question, request.model)};
  }
  return {.reply = reply, .table = change_table(std::get<LossChange>(found.change), found.question, request.model)};
}

Report report_of(const LensRequest& request, const Saying& saying) {
  const LensReport lens = found_lens(request, saying);
  return drawn(any_reply(lens_figures(lens, request.model)), lens_table(lens, request.model),
               lens_panel(lens, request.model));
}

// (tokens, [maps], the picture's report)
nb::tuple rollout_of(const LoadedModel& model, const std::string& text, const std::string& way) {
  if (way != "rollout" && way != "flow") throw InvalidArgument("rollout", "way", "\"rollout\" or \"flow\"", way);
  std::vector<Tensor> maps;
  HeadTexts read;
  const auto roll_out = [&] {
    const std::vector<std::string> one{text};
    read = head_texts(model.trained, one);
    if (way == "flow") {
      maps.push_back(attention_flow(model.trained.model(), read.texts.front()));
    } else {
      maps = attention_rollout(model.trained.model(), read.texts.front());
    }
  };
  said_as("rollout", [&] { stoppably(roll_out); });
  Panel panel = way == "flow" ? flow_map(maps.front(), read.shown) : rollout_maps(maps, read.shown);
  nb::list arrays;
  for (Tensor& map : maps) arrays.append(numpy_array(std::move(map)));
  return nb::make_tuple(read.shown, arrays, drawn({}, "", std::move(panel)));
}

template <class Request>
void add_report_of(nb::module_& module, const Asking<Request>& question) {
  module.def(
      question.name(),
      [&question](const SharedModel& model, const Given& placed, const Given& given) {
        return question.answer(model, placed, given,
                               [](const Request& request, const qkv::Given& /*all*/, const Saying& saying) {
                                 return stoppably([&] { return report_of(request, saying); });
                               });
      },
      nb::arg("model"), nb::arg("placed"), nb::arg("given"));
}

}  // namespace

void add_insight(nb::module_& module) {
  static const Asking<AnalyzeRequest> kHeads("heads", analyze_fields(), {"model", "texts"}, {"file", "syntax"});
  static const Asking<LensRequest> kLens("lens", lens_fields(), {"model", "text"});
  using Changes = Asking<ChangeRequest>;
  static const Changes kChange("change", change_fields(), {"model", "text", "changes"},
                               {"examples", "file", "texts", "sweep"});
  static const Changes kTexts("change_texts", change_fields(), {"model", "texts", "examples", "changes"},
                              {"text", "example", "file", "sweep", "query", "token", "against", "picture", "sound",
                               "chat", "system", "user", "messages"},
                              {{"examples", "count"}});
  static const Changes kSweep("sweep", change_fields(), {"model", "text", "sweep", "changes"},
                              {"examples", "file", "texts", "untouched"}, {{"sweep", "of"}});
  add_report_of(module, kHeads);
  add_report_of(module, kLens);
  for (const Changes* const one : {&kChange, &kTexts, &kSweep}) add_report_of(module, *one);
  module.def(
      "rollout", &rollout_of, nb::arg("model"), nb::arg("text"), nb::arg("way"),
      nb::sig(
          "def rollout(model: Model, text: str, way: str) -> tuple[list[str], list[qkv._types.Float64Array], Report]"));
}

}  // namespace qkv::python
