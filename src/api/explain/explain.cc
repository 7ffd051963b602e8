#include "qkv/api/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>

#include "api/explain/explain_rules.h"
#include "api/fields/bounds.h"
#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "api/models/models.h"
#include "api/models/seen_and_heard.h"
#include "api/models/shown.h"
#include "explain/words.h"
#include "files/reading.h"
#include "qkv/api/given_texts.h"
#include "qkv/api/pictures.h"
#include "qkv/explain/files.h"
#include "qkv/explain/model.h"
#include "qkv/files.h"

namespace qkv {
namespace {

using api_detail::of_field;
using api_detail::of_path;
using api_detail::shared_field;

std::optional<std::string> if_any(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

// The text of a model that reads images names one; two towers may show that of texts alone.
bool is_path_of_picture(const TextModel& model, const ExplainRequest& request) {
  if (model.lengths().image_side == 0 || request.text.empty() || request.example || !request.picture.empty())
    return false;
  const bool is_lone_text = model.traits().is_pair && request.captions.empty() && !is_picture(request.text);
  return !is_lone_text;
}

std::optional<OwnTensors> own_tensors(const ExplainRequest& request) {
  if (!request.npz.empty()) {
    return of_path("npz", [&] { return of_field("npz", [&] { return read_own_tensors(request.npz); }); });
  }
  if (request.q.empty() && request.k.empty() && request.v.empty()) return std::nullopt;
  const auto read = [](std::string_view field, const std::string& text) {
    if (text.empty()) api_detail::refuse(field, "a tensor beside the others: q, k and v go together", "none");
    return api_detail::read_field(field, text);
  };
  return OwnTensors{.q = read("q", request.q), .k = read("k", request.k), .v = read("v", request.v)};
}

Surroundings surroundings_of(const std::string& block) {
  if (block.empty()) return Surroundings::attention_only;
  return block == "pre-norm" ? Surroundings::pre_norm_block : Surroundings::post_norm_block;
}

ExplainOptions options_of(const ExplainRequest& request, const ExplainedParts& parts) {
  ExplainOptions options;
  options.text = request.text;
  options.context = if_any(request.context);
  options.own = own_tensors(request);
  options.d_model = request.d_model;
  options.heads = request.heads;
  options.kv_heads = request.kv_heads;
  options.d_k = request.d_k;
  options.d_v = request.d_v;
  options.seed = request.seed.value_or(options.seed);
  options.position = positions_named(request.positions);
  if (!request.mask.empty()) options.mask = parse_mask(request.mask);
  if (request.causal) options.mask = causal() & options.mask;
  if (request.bias == "t5") {
    options.position = Positions::t5;
  } else if (!request.bias.empty()) {
    options.bias = parse_bias(request.bias);
  }
  options.scale = request.scale;
  options.softcap = request.softcap;
  if (request.dropout) options.dropout = Dropout{.p = *request.dropout, .seed = options.seed};
  options.surroundings = surroundings_of(request.block);
  options.query = if_any(request.query);
  options.steps = parts.steps;
  options.only_steps = parts.only_steps;
  options.whys = parts.whys;
  return options;
}

void require_picture(const TextModel& model, const std::string& path) {
  files::require_in_reach(path);  // before it is told whether it is there
  std::error_code none;
  if (std::filesystem::exists(path, none)) return;
  const bool is_pair = model.traits().is_pair;
  api_detail::refuse("text",
                     std::string("a PNG, which this model reads") + (is_pair ? "; what it may show is `captions`" : ""),
                     "\"" + path + "\", which is not there");
}

// A path that is given as the text: what is wrong with it is said of that field.
Tensor picture_of_text(const TextModel& model, const std::string& path) {
  of_path("text", [&] { require_picture(model, path); });
  return api_detail::picture_in("text", path);
}

Explanation of_model(const TextModel& model, const ExplainRequest& request, const ExplainedParts& parts) {
  const bool is_path = is_path_of_picture(model, request);
  Shown shown = api_detail::shown_of(model,
                                     {.text = is_path ? std::nullopt : if_any(request.text),
                                      .example = request.example,
                                      .picture = request.picture,
                                      .sound = request.sound,
                                      .talk = &request.talk},
                                     api_detail::PassKeeps::layers);
  if (is_path) shown.picture = picture_of_text(model, request.text);
  ModelQuestion question = api_detail::question_about(request.model, std::move(shown));
  question.captions = request.captions;
  question.answer = request.answer;
  question.site = if_any(request.site);
  const api_detail::HeadPlace place = api_detail::head_place(request);
  question.layer = place.layer;
  question.head = place.head;
  question.query = if_any(request.query);
  question.blocks = !request.block.empty();
  question.whys = !request.why.empty();
  question.removal = parts.removal;
  return explain_model(model, question);
}

/// What the numbers of an explanation are counted from.
struct Extents {
  std::int64_t heads = 0, queries = 0, keys = 0;
};

Extents extents_of(const ExplainOptions& options) {
  if (options.own) {
    const auto rows = [](const Tensor& x) { return x.rank() < 2 ? 0 : x.dim(-2); };
    const Tensor& q = options.own->q;
    const std::int64_t of_head = rows(q) == 0 ? 1 : std::max<std::int64_t>(1, rows(q) * q.dim(-1));
    return {.heads = q.size() / of_head, .queries = rows(q), .keys = rows(options.own->k)};
  }
  const auto words = [](std::string_view field, const std::string& text) {
    return std::ssize(explain_detail::split_words(field, text));
  };
  const std::int64_t queries = words("text", options.text);
  return {.heads = options.heads,
          .queries = queries,
          .keys = options.context ? words("context", *options.context) : queries};
}

// Every stage of the scores is sent as a tensor and as maps, and so are the vectors of the tokens. In doubles: products
// of what the fields admit pass 2^63.
double numbers_of(const ExplainOptions& options) {
  constexpr double kKept = 2;             // a tensor and a map
  constexpr double kVectors = 8;          // from the embedding to the output
  constexpr double kVectorsOfBlock = 17;  // two norms, two sums, the result and three of the feed-forward layer's width
  constexpr double kFeedForward = 8;      // two matrices of four times the width
  const auto [heads, queries, keys] = extents_of(options);
  const double stages = 4.0 + (options.softcap ? 1 : 0) + (options.bias.is_zero() ? 0 : 1) + (options.dropout ? 1 : 0);
  const double scores = stages * static_cast<double>(heads) * static_cast<double>(queries) * static_cast<double>(keys);
  if (options.own) return kKept * scores;
  const auto width = static_cast<double>(options.d_model);
  const auto of_head = static_cast<double>(options.d_k.value_or(0) + options.d_v.value_or(0));
  const double head = of_head * static_cast<double>(heads);
  const bool has_block = options.surroundings != Surroundings::attention_only;
  const double vectors = static_cast<double>(queries + keys) * (kVectors + (has_block ? kVectorsOfBlock : 0)) * width;
  const double parameters = 2 * width * (width + head) + (has_block ? kFeedForward * width * width : 0);
  return kKept * (scores + vectors + parameters);
}

constexpr const char* kOfOwn = "Your own Q, K and V instead of a text: files, or numbers as \"[[1, 0], [0, 1]]\"";
constexpr const char* kTrained = "A trained model";

void add_text(Fields<ExplainRequest>& fields) {
  using R = ExplainRequest;
  fields.add(&R::text, {.name = "text",
                        .form = "TEXT",
                        .meaning = "The text, split into tokens at white space: words of at most 1024 bytes, 1 MiB in "
                                   "all; what a model reads, or its PNG"});
  fields.add(&R::causal, shared_field("causal"));
  fields.add(&R::mask, shared_field("mask"));
  fields.add(&R::bias, shared_field("bias"));
  fields.info("bias").meaning += "; here \"t5\", too";
  fields.add(&R::scale, shared_field("scale"));
  fields.add(&R::softcap, shared_field("softcap"));
  fields.add(&R::dropout, shared_field("dropout"));
  fields.add(&R::context,
             {.name = "context", .form = "TEXT", .meaning = "Cross-attention: keys and values come from this text"});
  fields.give_bounds(
      {{"scale", -api_detail::kMostFactor, api_detail::kMostFactor}, {"softcap", above(0), api_detail::kMostFactor}});
  fields.give_examples(
      {{"text", "The cat sat down"}, {"mask", "window(2)"}, {"scale", "0.25"}, {"context", "Le chat dort"}});
}

void add_drawn(Fields<ExplainRequest>& fields) {
  using R = ExplainRequest;
  fields.add(&R::heads, shared_field("heads"));
  fields.add(&R::kv_heads, shared_field("kv_heads"));
  fields.add(&R::d_model, shared_field("d_model"));
  fields.add(&R::d_k, shared_field("d_k"));
  fields.add(&R::d_v, shared_field("d_v"));
  fields.add(
      &R::seed,
      {.name = "seed", .form = "N", .meaning = "Of the untrained parameters (PyTorch's numbers), and of dropout"});
  fields.add(&R::positions, shared_field("positions"));
  fields.add(&R::block, {.name = "block",
                         .form = "KIND",
                         .meaning = "Show the whole transformer block: pre-norm or post-norm",
                         .words = {"", "pre-norm", "post-norm"},
                         .alone = "pre-norm"});
  fields.add(&R::query,
             {.name = "query", .form = "WORD", .meaning = "Write out one token's sum: a word, its index, or cat@5"});
  fields.add(&R::worked,
             {.name = "worked", .form = "NAME", .meaning = "Replay a worked example; NAME `list` prints their names"});
  fields.give_fallbacks({{"seed", "42"}});
  fields.give_bounds({{"heads", 1, api_detail::kMostHeads}, {"kv_heads", 1, api_detail::kMostHeads}});
  fields.give_examples({{"kv_heads", "1"}, {"query", "cat"}, {"worked", "vectors"}});
}

void add_own(Fields<ExplainRequest>& fields) {
  using R = ExplainRequest;
  fields.add(&R::npz, {.name = "npz",
                       .form = "FILE",
                       .meaning = "A file of Q, K and V: [T, D], [H, T, D] or [B, H, T, D]",
                       .group = kOfOwn,
                       .example = "qkv.npz"});
  fields.add(&R::q, shared_field("q", kOfOwn));
  fields.add(&R::k, shared_field("k", kOfOwn));
  fields.add(&R::v, shared_field("v", kOfOwn));
}

void add_trained(Fields<ExplainRequest>& fields) {
  using R = ExplainRequest;
  const auto count = [&](auto place, const char* name, const char* meaning, std::int64_t least, std::int64_t most) {
    fields.add(place, {.name = name, .form = "N", .meaning = meaning, .group = kTrained, .least = least, .most = most});
  };
  fields.add(&R::model, shared_field("model", kTrained));
  fields.add(&R::dtype, api_detail::numbers_field(kTrained));
  fields.add(&R::example, shared_field("example", kTrained));
  api_detail::add_shown(fields, kTrained);
  fields.add(&R::captions, captions_field(kTrained));
  fields.add(&R::site, shared_field("site", kTrained));
  count(&R::layer, "layer", "Whose steps to show: the best head of this layer", 0, api_detail::kMostLayers);
  fields.add(&R::head, {.name = "head", .form = "1.5", .meaning = "Likewise layer 1, head 5", .group = kTrained});
  count(&R::answer, "answer", "Write N tokens after the text", 1, api_detail::kMostAnswer);
  fields.give_otherwise({{"site", "what the text calls for"},
                         {"layer", "what the text calls for"},
                         {"head", "what the text calls for"},
                         {"answer", "as its task asks"}});
  fields.tell_arguments({{"text", {"ids"}}, {"example", {"ids"}}});
  fields.give_examples({{"head", "1.0"}});
}

void add_parts(Fields<ExplainRequest>& fields) {
  using R = ExplainRequest;
  fields.add(&R::all, {.name = "all",
                       .form = "full",
                       .meaning = "Show every step as well as what `query` or `why` asks for",
                       .words = {"full"},
                       .alone = "known"});
  fields.add(&R::steps, {.name = "step", .form = "STEPS", .meaning = "Only these: 7, 5-8, softmax, 3,softmax"});
  FieldInfo why{.name = "why",
                .form = "KIND",
                .meaning = "Answer why, and nothing else; or only some: variance,order",
                .words = {"all"},
                .alone = "all"};
  why.words.insert(why.words.end(), kWhyIds.begin(), kWhyIds.end());
  fields.add(&R::why, std::move(why));
  fields.give_examples({{"step", "softmax"}});
}

void add_numbers(Fields<ExplainRequest>& fields) {
  fields.add(&ExplainRequest::numbers, shared_field("numbers"));
  fields.info("numbers").fallback = "true";
}

}  // namespace

Explanation explanation_of(const ExplainRequest& request, const OpenedModel& model, const ExplainedParts& parts) {
  if (!request.worked.empty()) return explain_worked(request.worked);
  if (model != nullptr) return of_model(*model, request, parts);
  return api_detail::drawn_explanation(request, parts, std::numeric_limits<double>::infinity());
}

Explanation api_detail::drawn_explanation(const ExplainRequest& request, const ExplainedParts& parts,
                                          double most_numbers) {
  const ExplainOptions options = options_of(request, parts);
  const double count = numbers_of(options);
  if (count <= most_numbers) return explain(options);
  refuse("numbers",
         fmt::format("an explanation of at most {:.0f} numbers: of fewer words or heads, or a narrower "
                     "`d_model`; or none, and maps of means",
                     most_numbers),
         fmt::format("some {:.0f}", count));
}

const Fields<ExplainRequest>& explain_fields() {
  static const Fields<ExplainRequest> kFields = [] {
    Fields<ExplainRequest> fields;
    add_text(fields);
    add_drawn(fields);
    add_own(fields);
    add_trained(fields);
    add_parts(fields);
    add_numbers(fields);
    api_detail::say_company(fields);
    return fields;
  }();
  return kFields;
}

}  // namespace qkv
