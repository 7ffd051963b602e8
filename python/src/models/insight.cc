#include <memory>

#include "../arrays.h"
#include "../said_as.h"
#include "fields.h"
#include "models.h"
#include "qkv/api/change.h"
#include "qkv/api/lens.h"
#include "qkv/api/models.h"
#include "qkv/api/roles.h"
#include "qkv/insight/report.h"
#include "qkv/insight/rollout.h"
#include "report.h"

namespace qkv::python {
namespace {

using Texts = std::optional<std::vector<std::string>>;

const Fields<AnalyzeRequest>& heads_arguments() {
  static const auto kFields = without(analyze_fields(), {"model", "text", "texts", "syntax"});
  return kFields;
}

const Fields<ChangeRequest>& change_arguments() {
  static const auto kFields =
      without(change_fields(), {"model", "text", "file", "changes", "examples", "sweep", "remove", "pattern", "set",
                                "cut", "patch", "freeze_norms", "untouched"});
  return kFields;
}

const Fields<LensRequest>& lens_arguments() {
  static const auto kFields = without(lens_fields(), {"model", "text"});
  return kFields;
}

Report report_of(const HeadsFound& found, const std::string& name) {
  Report report{.reply = any_reply(roles_reply(*found.analysis, name, found.texts.described)),
                .table = heads_table(*found.analysis, name, found.texts.described)};
  for (Drawing& one : heads_drawings(found)) report.pictures.emplace_back(one.name, std::move(one.svg));
  return report;
}

// As `qkv analyze`.
Report heads_of(const SharedModel& model, const Texts& texts, const Given& given) {
  AnalyzeRequest request = request_of("heads", heads_arguments(), given);
  request.model = model->name;
  if (texts && texts->empty()) throw InvalidArgument("heads", "texts", "one text at least", "none");
  if (texts) request.texts = *texts;
  const auto report = [&] { return report_of(found_heads(request, OpenedModel(model, &model->trained)), model->name); };
  return said_in_python("heads", analyze_fields().infos(), [&] {
    analyze_fields().require_company(request);
    return stoppably(report);
  });
}

// A request to change a model, and the question that it is.
struct Changing {
  ChangeRequest request;
  ChangeQuestion question;
};

enum class ChangedTexts : std::uint8_t { of_request, own };

Changing changing(std::string_view function, const LoadedModel& model, ChangeRequest request,
                  ChangedTexts texts = ChangedTexts::of_request) {
  request.model = model.name;
  ChangeQuestion question = said_in_python(function, change_fields().infos(), [&] {
    if (texts == ChangedTexts::of_request) change_fields().require_company(request);
    return change_question(request);
  });
  if (model.trained.traits().fills) question.vectors = embed_options_of(model.path);
  return {std::move(request), std::move(question)};
}

ChangeRequest changes_of_text(std::string_view function, const std::optional<std::string>& text,
                              const std::vector<std::string>& changes, const Given& given) {
  ChangeRequest request = request_of(function, change_arguments(), given);
  request.of.text = text;
  request.changes = changes;
  return request;
}

// As `qkv change` of one text.
Report text_changed(const LoadedModel& model, const std::optional<std::string>& text,
                    const std::vector<std::string>& changes, const Given& given) {
  const auto [request, question] = changing("change", model, changes_of_text("change", text, changes, given));
  const auto report = [&] {
    const TextChange change = change_text(model.trained, question);
    return Report{.reply = any_reply(change_figures(change, question, model.name)),
                  .table = change_table(change, question, model.name)};
  };
  return said_in_python("change", change_fields().infos(), [&] { return stoppably(report); });
}

// As `qkv change` of many texts.
Report texts_changed(const LoadedModel& model, const Texts& texts, std::int64_t count,
                     const std::vector<std::string>& changes) {
  ChangeRequest asked;
  asked.changes = changes;
  if (!texts) asked.examples = count;
  const ChangedTexts whose = texts ? ChangedTexts::own : ChangedTexts::of_request;
  const auto [request, question] = changing("change_texts", model, asked, whose);
  const auto report = [&] {
    const HeadTexts read = texts ? head_texts(model.trained, *texts) : texts_to_look_at(model.trained, count);
    const LossChange change = change_texts(model.trained, read.texts, question);
    return Report{.reply = any_reply(change_figures(change, question, model.name)),
                  .table = change_table(change, question, model.name)};
  };
  return said_as("change_texts", [&] { return stoppably(report); });
}

Report drawn(AnyReply reply, std::string table, Panel panel) {
  Report report{.reply = std::move(reply), .table = std::move(table)};
  report.pictures.emplace_back("map", [panel = std::move(panel)] { return to_svg(panel); });
  return report;
}

// As `qkv change --sweep`.
Report swept_by(const LoadedModel& model, const std::optional<std::string>& text, const std::string& of,
                const std::vector<std::string>& changes, const Given& given) {
  if (of != "heads" && of != "places") throw InvalidArgument("sweep", "of", "\"heads\" or \"places\"", of);
  ChangeRequest asked = changes_of_text("sweep", text, changes, given);
  asked.sweep = of;
  const auto [request, question] = changing("sweep", model, asked);
  const auto report = [&] {
    const Sweep sweep = swept(model.trained, request, question);
    return drawn(any_reply(sweep_figures(sweep, question, model.name)), sweep_table(sweep),
                 sweep_panel(sweep, request));
  };
  return said_in_python("sweep", change_fields().infos(), [&] { return stoppably(report); });
}

// As `qkv lens`.
Report lens_of(const LoadedModel& model, const std::optional<std::string>& text, const Given& given) {
  LensRequest request = request_of("lens", lens_arguments(), given);
  request.of.text = text;
  const auto report = [&] {
    const LensReport lens = lens_report(model.trained, request.of);
    return drawn(any_reply(lens_figures(lens, model.name)), lens_table(lens, model.name), lens_panel(lens, model.name));
  };
  return said_in_python("lens", lens_fields().infos(), [&] { return stoppably(report); });
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

}  // namespace

void add_insight(nb::module_& module) {
  tell_arguments("heads", heads_arguments().infos());
  tell_arguments("change", change_arguments().infos());
  tell_arguments("lens", lens_arguments().infos());
  const auto given = nb::arg("given");
  module.def("heads", &heads_of, nb::arg("model"), nb::arg("texts"), given);
  module.def("change", &text_changed, nb::arg("model"), nb::arg("text"), nb::arg("changes"), given);
  module.def("change_texts", &texts_changed, nb::arg("model"), nb::arg("texts"), nb::arg("count"), nb::arg("changes"));
  module.def("sweep", &swept_by, nb::arg("model"), nb::arg("text"), nb::arg("of"), nb::arg("changes"), given);
  module.def("lens", &lens_of, nb::arg("model"), nb::arg("text"), given);
  module.def(
      "rollout", &rollout_of, nb::arg("model"), nb::arg("text"), nb::arg("way"),
      nb::sig(
          "def rollout(model: Model, text: str, way: str) -> tuple[list[str], list[qkv._types.Float64Array], Report]"));
}

}  // namespace qkv::python
