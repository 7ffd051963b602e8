#include "qkv/view/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "explain/words.h"
#include "qkv/explain/files.h"
#include "qkv/explain/match.h"
#include "qkv/explain/model.h"
#include "qkv/files.h"
#include "qkv/png.h"
#include "view/bounds.h"
#include "view/refuse.h"
#include "view/studio_questions.h"

namespace qkv {
namespace {

using view_detail::of_field;
using view_detail::of_fields;
using view_detail::StudioState;

std::vector<std::string> pieces_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find(separator);
    parts.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return parts;
}

std::optional<std::string> if_any(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

Tensor picture_at(const std::string& path) {
  return of_field("picture", [&] { return decode_png(read_file(path), path); });
}

std::optional<OwnTensors> own_tensors(const ExplainRequest& request) {
  if (!request.npz.empty()) return of_field("npz", [&] { return read_own_tensors(request.npz); });
  if (request.q.empty() && request.k.empty() && request.v.empty()) return std::nullopt;
  const auto read = [](std::string_view field, const std::string& text) {
    if (text.empty()) view_detail::refuse(field, "a tensor beside the others: q, k and v go together", "none");
    return of_field(field, [&] { return read_tensor(text); });
  };
  return OwnTensors{.q = read("q", request.q), .k = read("k", request.k), .v = read("v", request.v)};
}

Surroundings surroundings_of(const std::string& block) {
  if (block.empty()) return Surroundings::attention_only;
  return block == "pre-norm" ? Surroundings::pre_norm_block : Surroundings::post_norm_block;
}

ExplainOptions options_of(const ExplainRequest& request) {
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
  options.position = of_field("positions", [&] { return positions_named(request.positions); });
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
  return options;
}

Explanation of_model(const TrainedModel& model, const ExplainRequest& request) {
  ModelQuestion question{.title = request.model};
  if (!request.picture.empty()) {
    question.picture = picture_at(request.picture);
  } else if (!request.example || !request.text.empty()) {
    question.text = request.text;
  }
  question.example = request.example;
  question.captions = pieces_of(request.captions, '|');
  question.answer = request.answer;
  question.site = if_any(request.site);
  question.layer = request.layer;
  question.head = request.head;
  question.query = if_any(request.query);
  question.blocks = !request.block.empty();
  question.whys = request.why;
  return explain_model(model, question);
}

Explanation of_pairs(const TrainedModel& model, const ExplainRequest& request) {
  MatchQuestion question{.title = "match: " + request.model,
                         .pictures = {},
                         .names = pieces_of(request.picture, '\n'),
                         .captions = pieces_of(request.captions, '\n')};
  for (const std::string& path : question.names) question.pictures.push_back(picture_at(path));
  return explain_match(model, question, match_pairs(model, question.pictures, question.captions));
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

void require_few_numbers(const ExplainOptions& options) {
  constexpr double kMost = 67'108'864;
  const double count = numbers_of(options);
  if (count <= kMost) return;
  view_detail::refuse("numbers",
                      fmt::format("an explanation of at most {:.0f} numbers: of fewer words or heads, or a narrower "
                                  "d_model; or none, and maps of means",
                                  kMost),
                      fmt::format("some {:.0f}", count));
}

Explanation explanation_of(StudioState& state, const ExplainRequest& request) {
  if (!request.worked.empty()) return of_field("worked", [&] { return explain_worked(request.worked); });
  if (request.model.empty()) {
    const ExplainOptions options = options_of(request);
    if (request.numbers) require_few_numbers(options);
    return explain(options);
  }
  const auto model = state.model(request.model);
  return request.match ? of_pairs(*model, request) : of_model(*model, request);
}

// What differs from a request that says nothing.
ExplainGiven given_of(const ExplainRequest& request) {
  ExplainGiven given{.fields = {}, .bias = request.bias, .block = request.block, .positions = request.positions};
  const Fields<ExplainRequest>& fields = explain_fields();
  const ExplainRequest none;
  for (std::size_t n = 0; n < fields.infos().size(); ++n) {
    const bool differs = std::visit([&](auto place) { return request.*place != none.*place; }, fields.place(n));
    if (differs) given.fields.insert(fields.infos()[n].name);
  }
  return given;
}

void require_sense(const ExplainRequest& request) {
  const auto clash = explain_clash(given_of(request));
  if (!clash) return;
  const std::string field = clash->field.substr(0, clash->field.find(' '));
  if (clash->beside.empty()) view_detail::refuse(field, clash->why, clash->got);
  view_detail::refuse(field, "none beside " + clash->beside + ": " + clash->why, "one");
}

ExplainReply answer_explain(StudioState& state, const ExplainRequest& request, const StudioWatch& /*whole*/) {
  require_sense(request);
  const Explained how = request.numbers ? Explained::in_numbers : Explained::as_shown;
  return of_fields([&] { return explained(explanation_of(state, request), how); });
}

void add_texts(Fields<ExplainRequest>& fields) {
  const auto add = [&](std::string ExplainRequest::* place, const char* name, const char* form, const char* meaning) {
    fields.add(place, {.name = name, .form = form, .meaning = meaning});
  };
  add(&ExplainRequest::text, "text", "TEXT",
      "Words between blanks, of 1024 bytes at most, and 1 MiB in all; what a model reads");
  add(&ExplainRequest::context, "context", "TEXT", "Cross-attention: keys and values come from this text");
  add(&ExplainRequest::q, "q", "TENSOR", "One's own queries, with k and v: a file, or numbers in brackets");
  add(&ExplainRequest::k, "k", "TENSOR", "Keys");
  add(&ExplainRequest::v, "v", "TENSOR", "Values");
  add(&ExplainRequest::npz, "npz", "FILE", "All three in one file");
  add(&ExplainRequest::worked, "worked", "NAME", "A worked example, in place of a text");
  add(&ExplainRequest::query, "query", "WORD", "A token whose sum is written out: a word, its index, or cat@5");
  fields.add(&ExplainRequest::numbers,
             {.name = "numbers",
              .meaning = "Also all tensors, and every value of maps that show means of blocks: 64 Mi numbers at most"});
}

void add_drawn(Fields<ExplainRequest>& fields) {
  const auto add = [&](auto place, const char* name, const char* meaning) {
    fields.add(place, {.name = name, .meaning = meaning, .group = "a drawn model"});
  };
  const auto count = [&](auto place, const char* name, const char* meaning, std::int64_t most) {
    fields.add(place, {.name = name, .meaning = meaning, .group = "a drawn model", .least = 1, .most = most});
  };
  const auto number = [&](auto place, const char* name, const char* meaning, std::int64_t least, std::int64_t most) {
    fields.add(place, {.name = name, .meaning = meaning, .group = "a drawn model", .least = least, .most = most});
  };
  count(&ExplainRequest::heads, "heads", "Heads", view_detail::kMostHeads);
  count(&ExplainRequest::kv_heads, "kv_heads", "Heads of keys and values [heads]", view_detail::kMostHeads);
  count(&ExplainRequest::d_model, "d_model", "Width of a token's vector", view_detail::kWidest);
  count(&ExplainRequest::d_k, "d_k", "Width of a head's queries and keys [d_model / heads]", view_detail::kWidest);
  count(&ExplainRequest::d_v, "d_v", "Width of a head's values [d_k]", view_detail::kWidest);
  add(&ExplainRequest::seed, "seed", "Of the untrained parameters, and of dropout [42]");
  add(&ExplainRequest::positions, "positions", "sinusoidal, learned, rotary, alibi, t5 or none");
  fields.add(&ExplainRequest::block, {.name = "block",
                                      .meaning = "The whole transformer block",
                                      .group = "a drawn model",
                                      .words = {"", "pre-norm", "post-norm"}});
  add(&ExplainRequest::causal, "causal", "No token sees a later one");
  fields.add(&ExplainRequest::mask, {.name = "mask", .form = "EXPR", .meaning = "Which query sees which key"});
  fields.add(&ExplainRequest::bias, {.name = "bias", .form = "EXPR", .meaning = "Added to the scores: alibi, t5, …"});
  number(&ExplainRequest::scale, "scale", "Factor of the scores [1/sqrt(d_k)]", -view_detail::kMostFactor,
         view_detail::kMostFactor);
  number(&ExplainRequest::softcap, "softcap", "c * tanh(x / c)", 0, view_detail::kMostFactor);
  number(&ExplainRequest::dropout, "dropout", "Drop weights with this probability", 0, 1);
}

void add_trained(Fields<ExplainRequest>& fields) {
  const auto add = [&](auto place, const char* name, const char* form, const char* meaning) {
    fields.add(place, {.name = name, .form = form, .meaning = meaning, .group = "a trained model"});
  };
  const auto count = [&](auto place, const char* name, const char* meaning, std::int64_t least, std::int64_t most) {
    fields.add(place, {.name = name, .meaning = meaning, .group = "a trained model", .least = least, .most = most});
  };
  add(&ExplainRequest::model, "model", "MODEL", "A model of the box, a file of qkv's, or a folder of others");
  count(&ExplainRequest::example, "example", "A held-out example of its task, in place of a text", 0,
        view_detail::kMostExamples);
  add(&ExplainRequest::picture, "picture", "FILE", "A PNG, for a model that reads images; of match one a line");
  add(&ExplainRequest::captions, "captions", "A|B", "Of two towers: what it may show; of match one a line");
  add(&ExplainRequest::match, "match", "", "All pictures against all captions");
  add(&ExplainRequest::site, "site", "SITE", "Which attention: tokens, source or cross");
  count(&ExplainRequest::layer, "layer", "Whose steps to show [what the text calls for]", 0, view_detail::kMostLayers);
  count(&ExplainRequest::head, "head", "Likewise", 0, view_detail::kMostHeads);
  count(&ExplainRequest::answer, "answer", "Tokens to write after the text [as its task asks]", 1,
        view_detail::kMostAnswer);
  add(&ExplainRequest::why, "why", "", "Answer why from the numbers of its head");
}

}  // namespace

const Fields<ExplainRequest>& explain_fields() {
  static const Fields<ExplainRequest> kFields = [] {
    Fields<ExplainRequest> fields;
    add_texts(fields);
    add_drawn(fields);
    add_trained(fields);
    return fields;
  }();
  return kFields;
}

view_detail::Answerer view_detail::explain_question() {
  return answerer<ExplainRequest, ExplainReply>(
      "explain", "Everything from words to the output, step by step, and why it is done so.", explain_fields(),
      answer_explain,
      {R"({"text": "The cat sat down", "causal": true, "query": "cat"})",
       R"({"q": "[[1,0],[0,1]]", "k": "[[1,0],[1,1]]", "v": "[[2],[3]]", "numbers": true})",
       R"({"model": "induction", "text": "abcxyzab"})"});
}

}  // namespace qkv
