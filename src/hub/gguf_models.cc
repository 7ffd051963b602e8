#include "hub/gguf_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "core/ascii.h"
#include "core/listed.h"
#include "core/number_text.h"
#include "core/split_name.h"

namespace qkv::hub {
namespace {

using core::small_letters;

constexpr std::string_view kEnding = ".gguf";

std::string_view file_in(std::string_view name) { return name.substr(name.rfind('/') + 1); }

GgufModel model_of(const HubFile& file) {
  const std::optional<core::SplitName> split = core::split_name(file.name);
  if (!split) {
    return {.stem = file.name.substr(0, file.name.size() - kEnding.size()), .count = 1, .parts = {file}};
  }
  const auto count = core::number_from<std::size_t>(split->count);
  return {.stem = std::string(split->stem), .count = count.value_or(1), .parts = {file}};
}

// Where a type stands in a name: "model-" and "-imat" around Q4_0.
struct TypeFound {
  const GgufModel* model;
  std::string before, after;
};

// Between the marks that part a name: Q4_K is no part of Q4_K_M.
std::optional<TypeFound> type_in(const GgufModel& model, std::string_view type) {
  const std::string stem = small_letters(model.stem);
  const auto is_mark = [&](std::string_view marks, std::size_t at) { return marks.find(stem[at]) != marks.npos; };
  for (std::size_t end = stem.size(); end >= type.size(); --end) {
    const std::size_t begin = end - type.size();
    if (stem.compare(begin, type.size(), type) != 0) continue;
    const bool begins = begin == 0 || is_mark("-._/", begin - 1);
    const bool ends = end == stem.size() || is_mark("-./", end);
    if (begins && ends) return TypeFound{&model, stem.substr(0, begin), stem.substr(end)};
  }
  return std::nullopt;
}

// Of several the one to whose name the others add: X-Q4_K_M beside X-UD-Q4_K_M.
const GgufModel* model_of_type(std::span<const GgufModel> models, std::string_view type) {
  std::vector<TypeFound> found;
  for (const GgufModel& model : models) {
    if (auto one = type_in(model, type)) found.push_back(std::move(*one));
  }
  const auto plain = std::ranges::find_if(found, [&](const TypeFound& one) {
    return std::ranges::all_of(found, [&](const TypeFound& other) {
      return other.before.starts_with(one.before) && other.after.ends_with(one.after);
    });
  });
  return plain == found.end() ? nullptr : plain->model;
}

const GgufModel* model_of_file(std::span<const GgufModel> models, std::string_view name) {
  const GgufModel* meant = nullptr;
  for (const GgufModel& model : models) {
    const bool is_it = std::ranges::any_of(model.parts, [&](const HubFile& part) {
      return small_letters(part.name) == name || small_letters(std::string(file_in(part.name))) == name;
    });
    if (is_it && meant != nullptr) return nullptr;
    if (is_it) meant = &model;
  }
  return meant;
}

bool is_type(std::string_view text) {
  constexpr std::array<std::string_view, 6> kTypes = {"f32", "f16", "bf16", "fp32", "fp16", "mxfp4"};
  const std::string word = small_letters(std::string(text));
  const std::size_t digit = word.find_first_of("0123456789");
  const std::string letters = word.substr(0, digit);
  const bool is_of_blocks = digit != std::string::npos && (letters == "q" || letters == "iq" || letters == "tq");
  return is_of_blocks || std::ranges::find(kTypes, word) != kTypes.end();
}

// The last that the name has, as it is written there; empty if it has none.
std::string type_of(const GgufModel& model) {
  for (std::string_view rest = model.stem; !rest.empty();) {
    const std::size_t mark = rest.find_last_of("-./");
    const std::string_view word = rest.substr(mark + 1);
    if (is_type(word)) return std::string(word);
    rest = rest.substr(0, mark == rest.npos ? 0 : mark);
  }
  return "";
}

std::string size_of(const GgufModel& model) {
  const std::int64_t bytes = std::accumulate(model.parts.begin(), model.parts.end(), std::int64_t{0},
                                             [](std::int64_t sum, const HubFile& part) { return sum + part.size; });
  const auto number = static_cast<double>(bytes);
  return number < 1e9 ? fmt::format("{:.1f} MB", number / 1e6) : fmt::format("{:.1f} GB", number / 1e9);
}

}  // namespace

bool is_gguf_model(std::string_view name) {
  const std::string small = small_letters(std::string(name));
  if (!small.ends_with(kEnding)) return false;
  return small.find("mmproj") == small.npos && small.find("imatrix") == small.npos;
}

std::vector<GgufModel> gguf_models(std::span<const HubFile> files) {
  std::vector<GgufModel> models;
  for (const HubFile& file : files) {
    if (!is_gguf_model(file.name)) continue;
    GgufModel one = model_of(file);
    const auto known = std::ranges::find_if(
        models, [&](const GgufModel& model) { return model.stem == one.stem && model.count == one.count; });
    if (known == models.end()) {
      models.push_back(std::move(one));
    } else {
      known->parts.push_back(file);
    }
  }
  for (GgufModel& model : models) std::ranges::sort(model.parts, {}, &HubFile::name);
  return models;
}

std::vector<std::string> choices_of(std::span<const GgufModel> models) {
  std::vector<std::string> all;
  for (const GgufModel& model : models) {
    const std::string type = type_of(model);
    const bool is_enough = !type.empty() && find_model(models, type) == &model;
    all.push_back(is_enough ? type : model.parts.front().name);
  }
  return all;
}

const GgufModel* find_model(std::span<const GgufModel> models, std::string_view choice) {
  const std::string small = small_letters(std::string(choice));
  return small.ends_with(kEnding) ? model_of_file(models, small) : model_of_type(models, small);
}

std::string told_choices(std::span<const GgufModel> models) {
  std::vector<std::string> all = choices_of(models);
  for (std::size_t n = 0; n < all.size(); ++n) all[n] += fmt::format(" ({})", size_of(models[n]));
  return core::joined(all);
}

}  // namespace qkv::hub
