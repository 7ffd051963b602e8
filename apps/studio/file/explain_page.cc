#include "file/explain_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "file/studio_page.h"
#include "qkv/api/pictures.h"
#include "qkv/error.h"

namespace qkv::studio {
namespace {

constexpr std::int64_t kBenchNumbers = 2048;  // of each of q, k and v, which the address holds
// Of a text of some forty tokens through thirty layers the file stays below 5 MB: with other models only where there is
// room, and little of the pages Heads and Step, as the explanation shows all heads itself.
constexpr std::size_t kMostBytes = 4'900'000;
constexpr std::size_t kBesideExplain = std::size_t{240} << 10;
constexpr std::int64_t kTokensOfPages = 1024;   // of longer texts the file has the explanation alone
constexpr std::int64_t kDrawnNumbers = 65'536;  // of a projection: each reply of the bench holds it

// The question `explain` as the page asks it, for all of its steps.
Request explain_request(const ExplainRequest& asked) {
  ExplainRequest request = asked;
  if (is_picture(request.text)) request.picture = std::exchange(request.text, "");
  request.steps.clear();
  if (!request.why.empty()) request.why = {"all"};
  const bool asks_for_parts = !request.query.empty() || !request.why.empty();
  request.all = request.model.empty() && asks_for_parts ? "full" : "";
  request.numbers = false;
  return explain_fields().as_values(request);
}

std::string matrix_text(const TensorView& matrix) {
  std::string text;
  for (std::int64_t row = 0; row < matrix.dim(0); ++row) {
    if (row > 0) text += ';';
    const std::vector<double> numbers = matrix.select(0, row).to_vector();
    for (std::size_t column = 0; column < numbers.size(); ++column) {
      text += fmt::format("{}{}", column == 0 ? "" : ",", numbers[column]);
    }
  }
  return text;
}

bool is_one_head(const Tensor& tensor) { return tensor.dim(0) == 1 && tensor.size() <= kBenchNumbers; }

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string mask_text(const ExplainRequest& asked) {
  if (!asked.causal) return asked.mask;
  return asked.mask.empty() ? "causal" : "causal & (" + asked.mask + ")";
}

// Numbers of the largest of W_Q, W_K, W_V and W_O of a model that was drawn with these options.
std::int64_t largest_projection(const ExplainRequest& asked) {
  const std::int64_t d_k = asked.d_k.value_or(asked.d_model / asked.heads);
  return asked.d_model * asked.heads * std::max(d_k, asked.d_v.value_or(d_k));
}

// What the questions `explain` and `bench` have in common.
constexpr std::array<std::string_view, 10> kOfBench = {"context", "scale",    "softcap", "bias", "heads",
                                                       "d_model", "kv_heads", "d_k",     "d_v",  "positions"};

// The question `bench`; none for what the bench does not hold.
std::optional<Request> bench_request(const ExplainRequest& asked, const Request& explained,
                                     const Explanation& explanation) {
  if (!asked.worked.empty() || asked.dropout) return std::nullopt;
  Request request{{"tokens", joined(explanation.tokens)}};
  for (const std::string_view name : kOfBench) {
    if (const auto found = explained.find(name); found != explained.end()) request.insert(*found);
  }
  if (asked.bias == "t5") {
    request.erase("bias");
    request["positions"] = "t5";
  }
  if (explanation.keys != explanation.tokens) request["context"] = joined(explanation.keys);
  if (const std::string mask = mask_text(asked); !mask.empty()) request["mask"] = mask;
  if (explanation.asked >= 0) request["query"] = explanation.asked;
  if (!asked.q.empty() || !asked.npz.empty()) {
    for (const char* name : {"q", "k", "v"}) {
      const Tensor& tensor = explanation.tensor(name);
      if (!is_one_head(tensor)) return std::nullopt;
      request[name] = matrix_text(tensor.view().select(0, 0));
    }
    return request;
  }
  if (largest_projection(asked) > kDrawnNumbers) return std::nullopt;
  request["seed"] = asked.seed.value_or(ExplainOptions{}.seed);
  return request;
}

// An address has a picture or caption a line.
std::string one_a_line(const std::vector<std::string>& texts) { return fmt::format("{}", fmt::join(texts, "\n")); }

// How the page's address has the question.
std::string explain_start(Request request, const ExplainRequest& asked) {
  request.erase("all");
  request.erase("numbers");
  if (request.contains("why")) request["why"] = "all";
  if (request.contains("captions")) request["captions"] = one_a_line(asked.captions);
  return start_of("explain", request);
}

// A file without the page Step, or Heads, explains as well.
void add_step_page(Frozen& frozen, StudioPage& page, const std::optional<Request>& bench) {
  if (!bench) return;
  try {
    add_bench_page(frozen, page, *bench);
  } catch (const InvalidArgument&) {
    return;
  }
}

// "tokens.1.0".
std::optional<ShownHead> shown_head(const std::string& name) {
  const std::size_t first = name.find('.');
  const std::size_t last = name.rfind('.');
  if (first == std::string::npos || last == first) return std::nullopt;
  ShownHead shown{.site = name.substr(0, first)};
  std::from_chars(name.data() + first + 1, name.data() + last, shown.layer);
  std::from_chars(name.data() + last + 1, name.data() + name.size(), shown.head);
  return shown;
}

// What the other pages read: a text as it is, without the answer that was asked for.
bool is_read_alike(const ExplainRequest& asked) {
  return asked.picture.empty() && asked.sound.empty() && !is_picture(asked.text) && asked.captions.empty() &&
         !asked.talk.chat && !asked.answer;
}

OpenedText opened_text(const ExplainRequest& asked, const Explanation& explanation, const OpenedModel& model) {
  OpenedText opened{.model = model, .shown = {}, .pass = is_read_alike(asked) ? explanation.pass : nullptr};
  opened.shown.model = asked.model;
  opened.shown.text = asked.text;
  opened.shown.example = asked.example;
  return opened;
}

void add_trained_pages(Frozen& frozen, StudioPage& page, const Request& request, const Explanation& explanation) {
  // The other pages read texts as they are.
  for (const char* const other : {"picture", "sound", "captions", "chat"}) {
    if (request.contains(other)) return;
  }
  if (std::ssize(explanation.keys) > kTokensOfPages) return;
  Request reading;
  for (const char* name : {"model", "text", "example"}) {
    if (const auto found = request.find(name); found != request.end()) reading.insert(*found);
  }
  const auto query = explanation.asked >= 0 ? std::optional(explanation.asked) : std::nullopt;
  try {
    add_model_pages(frozen, page, reading, shown_head(explanation.head), query, kBesideExplain);
  } catch (const InvalidArgument&) {
    return;
  }
}

}  // namespace

std::string explain_page(const ExplainRequest& asked, const Explanation& explanation, const OpenedModel& model) {
  return studio_page(
      {.title = explanation.title, .opened = opened_text(asked, explanation, model), .most_bytes = kMostBytes},
      [&](Frozen& frozen, StudioPage& page) {
        const Request request = explain_request(asked);
        if (model == nullptr) {
          add_step_page(frozen, page, bench_request(asked, request, explanation));
        } else {
          add_trained_pages(frozen, page, request, explanation);
        }
        frozen.put("explain", request, any_reply(explained(explanation, Explained::as_shown)));
        page.starts.push_back(explain_start(request, asked));
      });
}

std::string match_page(const MatchRequest& asked, const MatchFound& found) {
  const MatchQuestion& question = found.question;
  OpenedText opened{.model = found.model};
  opened.shown.model = asked.model;
  return studio_page({.title = question.title, .opened = std::move(opened)}, [&](Frozen& frozen, StudioPage& page) {
    const MatchRequest request{.images = question.names,
                               .captions = question.captions,
                               .file = {},
                               .model = asked.model,
                               .maps = true,
                               .numbers = false};
    frozen.put("match", match_fields().as_values(request), any_reply(match_figures(request, found)));
    page.starts.push_back(start_of(
        "explain",
        {{"model", asked.model}, {"images", one_a_line(question.names)}, {"captions", one_a_line(question.captions)}}));
  });
}

}  // namespace qkv::studio
