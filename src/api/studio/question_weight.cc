// Which questions take little.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/replies/reply_json.h"
#include "qkv/api/questions.h"
#include "qkv/api/studio.h"
#include "qkv/files.h"

namespace qkv {
namespace {

using api_detail::Json;

constexpr std::array<std::string_view, 7> kAlwaysLight = {"about",    "cost",  "positions", "operations",
                                                          "pictures", "learn", "bottleneck"};
constexpr std::array<std::string_view, 6> kOfOneText = {"bench", "number", "heads", "head", "head_parts", "pair"};
constexpr std::array<std::string_view, 5> kWidths = {"heads", "kv_heads", "d_model", "d_k", "d_v"};
constexpr std::array<std::string_view, 4> kExtents = {"tq", "tk", "batch", "heads"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::size_t bytes_of_texts(const Json& request) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : request.items()) {
    if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  }
  return bytes;
}

template <std::size_t N>
bool are_at_most(const Json& request, const std::array<std::string_view, N>& names, std::int64_t most) {
  return std::ranges::all_of(names, [&](std::string_view name) {
    const auto found = request.find(std::string(name));
    return found == request.end() || !found->is_number() || found->get<double>() <= static_cast<double>(most);
  });
}

// A name without a path: a model of the box, all of which are small.
bool is_of_the_box(const Json& model) {
  return model.get_ref<const std::string&>().find_first_of("./") == std::string::npos;
}

// Tensors of explain that lie in files, of which a request does not say how large they are.
bool reads_tensors(const Json& request) {
  constexpr std::array<std::string_view, 4> kTensors = {"q", "k", "v", "npz"};
  return std::ranges::any_of(kTensors, [&](std::string_view name) {
    const auto found = request.find(std::string(name));
    if (found == request.end() || !found->is_string()) return false;
    const auto& text = found->get_ref<const std::string&>();
    return !text.empty() && !is_tensor_text(text);
  });
}

}  // namespace

bool Studio::is_light(std::string_view name, std::string_view request) {
  constexpr std::size_t kFewWords = 192;     // bytes, which a model of the box reads in a hundredth of a second
  constexpr std::size_t kFewNumbers = 2048;  // bytes of matrices
  constexpr std::int64_t kNarrow = 64;
  constexpr std::int64_t kShort = 16'384;
  if (is_one_of(kAlwaysLight, name)) return true;
  const auto question = std::ranges::find(questions(), name, &Question::name);
  if (question == questions().end() || !question->refusal.empty()) return true;  // refused at once
  const Json json = Json::parse(request, nullptr, false);
  if (!json.is_object()) return true;  // which is refused at once
  if (name == "mask") return are_at_most(json, kExtents, kShort) && bytes_of_texts(json) <= kFewNumbers;
  if (name == "explain" && reads_tensors(json)) return false;
  const auto model = json.find("model");
  const bool has_model = model != json.end() && model->is_string() && !model->get_ref<const std::string&>().empty();
  if (has_model) return is_one_of(kOfOneText, name) && is_of_the_box(*model) && bytes_of_texts(json) <= kFewWords;
  const bool is_drawn = name == "explain" || is_one_of(kOfOneText, name);
  return is_drawn && are_at_most(json, kWidths, kNarrow) && bytes_of_texts(json) <= kFewNumbers;
}

}  // namespace qkv
