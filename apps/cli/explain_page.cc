#include "explain_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "common_options.h"
#include "picture_word.h"
#include "qkv/error.h"
#include "qkv/number_text.h"
#include "studio_page.h"

namespace qkv::cli {
namespace {

using studio::Request;

constexpr std::int64_t kBenchNumbers = 2048;    // of each of q, k and v, which the address holds
constexpr std::int64_t kDrawnNumbers = 65'536;  // of a projection: each reply of the bench holds it

template <class Value>
void set(Request& request, const char* name, const std::optional<Value>& value) {
  if (value) request[name] = *value;
}
void set(Request& request, const char* name, const std::string& value) {
  if (!value.empty()) request[name] = value;
}

// What scores are made with, for the questions `explain` and `bench`.
void set_scores(Request& request, const ExplainArguments& arguments) {
  const ExplainOptions& options = arguments.options;
  set(request, "context", options.context);
  set(request, "scale", options.scale);
  set(request, "softcap", options.softcap);
  if (arguments.bias != "t5") set(request, "bias", arguments.bias);
}

void set_drawn(Request& request, const ExplainArguments& arguments) {
  const ExplainOptions usual;
  const ExplainOptions& options = arguments.options;
  if (options.heads != usual.heads) request["heads"] = options.heads;
  if (options.d_model != usual.d_model) request["d_model"] = options.d_model;
  set(request, "kv_heads", options.kv_heads);
  set(request, "d_k", options.d_k);
  set(request, "d_v", options.d_v);
  const std::string positions = arguments.bias == "t5" ? "t5" : arguments.position;
  if (positions != "sinusoidal") request["positions"] = positions;
}

// The part of --head: "1.5" is layer 1, head 5.
void set_head(Request& request, const TrainedArguments& trained) {
  set(request, "site", trained.site);
  set(request, "layer", trained.layer);
  const auto numbers = numbers_from<std::int64_t>(trained.head.value_or(""), '.');
  if (!numbers || numbers->size() != 2) return;
  request["layer"] = numbers->front();
  request["head"] = numbers->back();
}

Request model_request(const ExplainArguments& arguments) {
  const TrainedArguments& trained = arguments.trained;
  Request request{{"model", trained.model}};
  if (trained.example) {
    request["example"] = *trained.example;
  } else if (arguments.text) {
    const bool shows_picture = is_picture(*arguments.text);
    request[shows_picture ? "picture" : "text"] = *arguments.text;
  }
  set(request, "captions", trained.captions);
  set(request, "answer", trained.answer);
  set_head(request, trained);
  set(request, "query", arguments.options.query);
  if (arguments.block) request["block"] = "pre-norm";
  if (arguments.whys) request["why"] = true;
  return request;
}

// The question `explain`, as the page asks it.
Request explain_request(const ExplainArguments& arguments) {
  if (!arguments.worked.empty()) return {{"worked", arguments.worked}};
  if (!arguments.trained.model.empty()) return model_request(arguments);
  Request request = Request::object();
  set(request, "text", arguments.text);
  set(request, "npz", arguments.npz);
  set(request, "q", arguments.own.q);
  set(request, "k", arguments.own.k);
  set(request, "v", arguments.own.v);
  set(request, "mask", arguments.mask);
  if (arguments.is_causal) request["causal"] = true;
  set_scores(request, arguments);
  if (arguments.bias == "t5") request["bias"] = "t5";
  set(request, "dropout", arguments.dropout);
  set_drawn(request, arguments);
  const std::uint64_t seed = seed_of(arguments.seed);
  if (seed != ExplainOptions{}.seed) request["seed"] = seed;
  set(request, "query", arguments.options.query);
  set(request, "block", arguments.block);
  return request;
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

std::string mask_text(const ExplainArguments& arguments) {
  if (!arguments.is_causal) return arguments.mask;
  return arguments.mask.empty() ? "causal" : "causal & (" + arguments.mask + ")";
}

// Numbers of the largest of W_Q, W_K, W_V and W_O of a model that was drawn with these options.
std::int64_t largest_projection(const ExplainOptions& options) {
  const std::int64_t d_k = options.d_k.value_or(options.d_model / options.heads);
  return options.d_model * options.heads * std::max(d_k, options.d_v.value_or(d_k));
}

// The question `bench`; null for what the bench does not hold.
Request bench_request(const ExplainArguments& arguments, const Explanation& explanation) {
  if (!arguments.worked.empty() || arguments.dropout) return nullptr;
  Request request{{"tokens", joined(explanation.tokens)}};
  if (explanation.keys != explanation.tokens) request["context"] = joined(explanation.keys);
  set_scores(request, arguments);
  set(request, "mask", mask_text(arguments));
  if (explanation.asked >= 0) request["query"] = explanation.asked;
  if (explanation.tokens.size() == 1) request["query"] = 0;
  if (arguments.own.any() || !arguments.npz.empty()) {
    for (const char* name : {"q", "k", "v"}) {
      const Tensor& tensor = explanation.tensor(name);
      if (!is_one_head(tensor)) return nullptr;
      request[name] = matrix_text(tensor.view().select(0, 0));
    }
    return request;
  }
  if (largest_projection(arguments.options) > kDrawnNumbers) return nullptr;
  request["seed"] = seed_of(arguments.seed);
  set_drawn(request, arguments);
  return request;
}

// A file without the page Step explains as well.
void add_step_page(studio::Frozen& frozen, StudioPage& page, const Request& bench) {
  if (bench.is_null()) return;
  try {
    add_bench_page(frozen, page, bench);
  } catch (const InvalidArgument&) {
    return;
  }
}

// "tokens.1.0" as the fields that a question has for it.
Request head_fields(const std::string& name) {
  const std::size_t first = name.find('.');
  const std::size_t last = name.rfind('.');
  if (first == std::string::npos || last == first) return {};
  return {{"site", name.substr(0, first)},
          {"layer", number_from<std::int64_t>(name.substr(first + 1, last - first - 1)).value()},
          {"head", number_from<std::int64_t>(name.substr(last + 1)).value()}};
}

void add_trained_pages(studio::Frozen& frozen, StudioPage& page, const Request& request,
                       const Explanation& explanation) {
  if (request.contains("picture") || request.contains("captions")) return;
  Request reading{{"model", request["model"]}};
  for (const char* name : {"text", "example"}) {
    if (request.contains(name)) reading[name] = request[name];
  }
  const auto query = explanation.asked >= 0 ? std::optional(explanation.asked) : std::nullopt;
  add_model_pages(frozen, page, reading, head_fields(explanation.head), query);
}

}  // namespace

std::string explain_page(const ExplainArguments& arguments, const Explanation& explanation) {
  return studio_page({.title = explanation.title}, [&](studio::Frozen& frozen, StudioPage& page) {
    const Request request = explain_request(arguments);
    if (arguments.trained.model.empty()) {
      add_step_page(frozen, page, bench_request(arguments, explanation));
    } else {
      add_trained_pages(frozen, page, request, explanation);
    }
    frozen.add("explain", request);
    page.starts.push_back(start_of("explain", request));
  });
}

std::string match_page(const std::string& model, const MatchQuestion& question) {
  return studio_page({.title = question.title}, [&](studio::Frozen& frozen, StudioPage& page) {
    const Request request{{"model", model},
                          {"match", true},
                          {"picture", fmt::format("{}", fmt::join(question.names, "\n"))},
                          {"captions", fmt::format("{}", fmt::join(question.captions, "\n"))}};
    frozen.add("explain", request);
    page.starts.push_back(start_of("explain", request));
  });
}

}  // namespace qkv::cli
