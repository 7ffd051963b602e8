#include "qkv/api/change.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/heads/changes.h"
#include "api/lens/asked_text.h"
#include "api/models/models.h"
#include "api/models/pass_bounds.h"
#include "qkv/api/models.h"
#include "qkv/insight/texts.h"
#include "qkv/model/box.h"

namespace qkv {
namespace {

using api_detail::refuse;

std::vector<Intervention> interventions_of(const ChangeRequest& request) {
  std::vector<Intervention> all;
  const auto add = [&](const char* kind, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      api_detail::add_change(kind, parse_intervention(fmt::format("{} {}", kind, text)), all);
    }
  };
  for (const std::string& text : request.changes) {
    for (Intervention& one : api_detail::changes_in(text)) api_detail::add_change("changes", std::move(one), all);
  }
  add("patch", request.patches);
  add("set", request.numbers);
  add("remove", request.removed);
  add("cut", request.cuts);
  add("pattern", request.patterns);
  if (request.freezes) api_detail::add_change("freeze_norms", FrozenNorms{}, all);
  return all;
}

bool have_a_head_in_common(const HeadsAt& a, const HeadsAt& b) {
  const auto meet = [](const auto& x, const auto& y) { return !x || !y || x == y; };
  return a.site == b.site && meet(a.layer, b.layer) && meet(a.head, b.head);
}

// Without a change all that is shown would be zeros, and a removed head's pattern counts for nothing.
void require_changes(const ChangeRequest& request, std::span<const Intervention> all) {
  if (all.empty() && request.sweep.empty() && !request.untouched) {
    refuse("remove, pattern, cut, patch, set, changes, freeze_norms, sweep, untouched", "one of them", "none");
  }
  for (const Intervention& one : all) {
    const auto* pattern = std::get_if<ReplacedPattern>(&one);
    for (const Intervention& other : all) {
      const auto* removed = std::get_if<RemovedHead>(&other);
      if (pattern == nullptr || removed == nullptr || !have_a_head_in_common(pattern->at, removed->at)) continue;
      refuse("pattern", "a head that is not removed as well", to_string(one) + " and " + to_string(other));
    }
  }
}

void add_texts(Fields<ChangeRequest>& fields) {
  constexpr std::int64_t kMostExamples = 100000;
  const std::string of_many = "Instead of a text many, of which the mean loss is looked at";
  fields.add(&ChangeRequest::model, api_detail::shared_field("model"));
  fields.info("model").required = true;
  fields.add(&ChangeRequest::dtype, api_detail::numbers_field());
  fields.add(&ChangeRequest::of, api_detail::asked_text_fields());
  api_detail::add_shown(fields);
  fields.add(&ChangeRequest::examples, {.name = "examples",
                                        .form = "N",
                                        .meaning = "N held-out examples of its task",
                                        .group = of_many,
                                        .least = 1,
                                        .most = kMostExamples});
  fields.add(&ChangeRequest::file, line_file_field(of_many));
  fields.add(&ChangeRequest::texts, texts_field(of_many));
  fields.tell_arguments({{"model", {"trained"}}, {"examples", {"count"}}, {"file", {"texts"}}});
}

void add_interventions(Fields<ChangeRequest>& fields, std::int64_t last_example) {
  using R = ChangeRequest;
  const std::string group = "What is changed";
  const auto many = [&](const char* name, std::vector<std::string> R::* texts, const char* form, const char* meaning) {
    fields.add(texts, {.name = name, .form = form, .meaning = meaning, .group = group});
  };
  many("remove", &R::removed, "HEAD", "Gives zeros: 1.0 is head 0 of layer 1, 1.* every head of it");
  many("pattern", &R::patterns, "HEAD=HOW",
       "Its weights: uniform, previous, self, a key's number, or text: those on the other text (2.3=uniform)");
  many("set", &R::numbers, "L.H=PART:PLACE,COLUMN:X", "A number of a head's q, k, v or out at a place: 1.0=k:2,5:0.7");
  many("cut", &R::cuts, "QUERY:KEY", "The query no longer sees the key (7:3), in one head: 1.0=7:3");
  many("patch", &R::patches, "NAME[@PLACE]",
       "A value of the other text: blocks.1, blocks.1@5, or of one head, blocks.1.attn.heads.0@5");
  FieldInfo changes{.name = "changes",
                    .form = "CHANGE",
                    .meaning = "Any of these in words, before the others: remove 1.0; freeze norms",
                    .group = group};
  changes.option = "change";
  fields.add(&R::changes, std::move(changes));
  fields.add(&R::from_text, api_detail::shared_field("from_text", group));
  fields.add(&R::from_example, {.name = "from_example",
                                .form = "N",
                                .meaning = "Or held-out example N of the task",
                                .group = group,
                                .least = 0,
                                .most = last_example});
  fields.add(&R::freezes,
             {.name = "freeze_norms", .meaning = "Each norm divides by what it divided by before", .group = group});
  fields.add(&R::untouched,
             {.name = "untouched", .meaning = "Change nothing: what the model says as it is", .group = group});
  fields.give_examples({{"remove", "1.0"},
                        {"pattern", "1.0=uniform"},
                        {"set", "1.0=k:2,5:0.7"},
                        {"cut", "7:2"},
                        {"patch", "blocks.1"},
                        {"changes", "remove 1.0"}});
  fields.tell_arguments({{"changes", api_detail::kinds_of_change()}, {"from_example", {"from_text"}}});
}

void add_looks(Fields<ChangeRequest>& fields) {
  const std::string group = "Where it is looked at";
  fields.add(&ChangeRequest::of, api_detail::asked_place_fields(group));
  fields.add(&ChangeRequest::sweep, {.name = "sweep",
                                     .form = "heads|places",
                                     .meaning = "Each in turn: heads removed; places patched from the other text",
                                     .group = group,
                                     .words = {"heads", "places"}});
  fields.give_otherwise({{"against", "what the model says of the other text"}});
}

}  // namespace

const Fields<ChangeRequest>& change_fields() {
  static const Fields<ChangeRequest> kFields = [] {
    constexpr std::int64_t kLastExample = std::int64_t{1} << 40;
    Fields<ChangeRequest> fields;
    add_texts(fields);
    add_interventions(fields, kLastExample);
    add_looks(fields);
    api_detail::say_company_of_shown(fields, {"file", "texts", "examples"});
    fields.exclude({"file", "texts", "examples"}, {"text", "example", "picture", "sound", "chat"},
                   "it is asked of one text, or of many");
    fields.exclude({"file"}, {"texts", "examples"}, "texts come from one place");
    fields.exclude({"texts"}, {"examples"}, "texts come from one place");
    fields.exclude({"untouched"}, {"remove", "pattern", "set", "cut", "patch", "changes", "freeze_norms", "sweep"},
                   "nothing is changed");
    fields.exclude({"sweep"}, {"file", "texts", "examples"},
                   "`qkv analyze` measures each head's removal over many texts");
    fields.exclude({"query", "token", "against"}, {"file", "texts", "examples"}, "it is of one text");
    return fields;
  }();
  return kFields;
}

Panel sweep_panel(const Sweep& sweep, const ChangeRequest& request) {
  const char* const what = request.sweep == "heads" ? ": each head removed" : ": each state from the other text";
  return sweep_panel(sweep, request.model + what);
}

namespace {

ChangeQuestion change_question(const ChangeRequest& request) {
  ChangeQuestion question{.of = request.of, .from_text = request.from_text, .from_example = request.from_example};
  question.interventions = interventions_of(request);
  require_changes(request, question.interventions);
  return question;
}

HeadTexts many_texts(const ChangeRequest& request, const TextModel& trained, const Saying& saying) {
  if (!request.file.path.empty()) return texts_of_lines(trained, request.file, saying);
  if (!request.texts.empty()) return texts_to_look_at(trained, request.texts, saying);
  return texts_to_look_at(trained, *request.examples);
}

}  // namespace

ChangeFound found_change(const ChangeRequest& request, const Saying& saying) {
  constexpr auto kKept = api_detail::PassKeeps::layers_and_scores;
  change_fields().require_company(request);
  ChangeFound found{.question = change_question(request), .change = {}};
  const OpenedModel model = api_detail::open_in_dtype(request.model, request.dtype, saying);
  ChangeQuestion& question = found.question;
  question.of = api_detail::question_shown(*model, request);
  if (request.from_text) {
    question.from_messages =
        api_detail::other_shown_of(*model, question.of.messages, *request.from_text, kKept).messages;
  }
  if (model->traits().fills) question.vectors = vectors_without_prompt(trained_model_path(request.model), saying);
  if (request.of.text && !request.talk.chat) say_outside(*model, *request.of.text, saying);
  if (request.sweep == "heads") {
    found.change = sweep_heads(*model, question, saying.doing);
  } else if (!request.sweep.empty()) {
    found.change = sweep_places(*model, question, saying.doing);
  } else if (request.file.path.empty() && request.texts.empty() && !request.examples) {
    found.change = change_text(*model, question);
  } else {
    found.change = change_texts(*model, many_texts(request, *model, saying).texts, question);
  }
  return found;
}

AnyReply change_reply(const ChangeFound& found, const std::string& model) {
  if (const auto* sweep = std::get_if<Sweep>(&found.change)) {
    return any_reply(sweep_figures(*sweep, found.question, model));
  }
  if (const auto* one = std::get_if<TextChange>(&found.change)) {
    return any_reply(change_figures(*one, found.question, model));
  }
  return any_reply(change_figures(std::get<LossChange>(found.change), found.question, model));
}

AnyReply answer(const ChangeRequest& request, const Saying& saying) {
  return change_reply(found_change(request, saying), request.model);
}

}  // namespace qkv
