#include "model/saving/planned_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "qkv/error.h"

namespace qkv::saving {
namespace {

constexpr std::int64_t kBlock = 32;

bool stays_f32(std::string_view name) {
  constexpr std::array<std::string_view, 6> kParts = {"_norm.weight", "position_embd", "token_types",
                                                      "attn_rel_b",   "rope_freqs",    "_exps.bias"};
  return std::ranges::any_of(kParts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

}  // namespace

std::string type_in_file(std::string_view word) {
  std::string type(word);
  for (char& letter : type) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return type;
}

bool is_plain_type(std::string_view word) { return word == "f32" || word == "f16" || word == "bf16"; }

std::string type_of_dtype(DType dtype) { return type_in_file(name_of(dtype)); }

std::string dtype_in_config(const std::string& type) {
  static const std::map<std::string, std::string> kWords = {
      {"F32", "float32"}, {"F16", "float16"}, {"BF16", "bfloat16"}, {"F64", "float64"}};
  return kWords.at(type);
}

void PlannedTensors::add(files::LaterTensor tensor, std::string kept) {
  shown.push_back({.name = tensor.name,
                   .type = tensor.type,
                   .shape = tensor.shape,
                   .bytes = files::bytes_of(tensor),
                   .kept = std::move(kept)});
  tensors.push_back(std::move(tensor));
}

files::WriteProgress progress_of(const ConvertOptions& options, const char* stage) {
  return [&options, stage](std::int64_t done, std::int64_t all) {
    if (options.progress) options.progress(stage, done, all);
  };
}

std::string_view gguf_scores_map(bool has_output) noexcept {
  return has_output ? "output.weight" : "token_embd.weight";
}

ChosenType gguf_type_for(std::string_view name, std::span<const std::int64_t> shape, TensorUse use,
                         const std::optional<std::string>& asked, const std::string& own) {
  const std::string wanted = asked ? type_in_file(*asked) : own;
  if (wanted == "F32") return {wanted};
  if (shape.size() < 2) return {"F32", asked ? "a vector" : ""};
  if (stays_f32(name)) return {"F32", asked ? "a table that is added, or a bias" : ""};
  if (name.ends_with(".ffn_gate_inp.weight")) return {"F32", asked ? "the map that chooses experts" : ""};
  if (asked && !is_plain_type(*asked) && shape.back() % kBlock != 0) {
    return {"F16", fmt::format("rows of {} numbers are no whole blocks of {}", shape.back(), kBlock)};
  }
  const bool is_of_few_bits = asked && (asked->starts_with("q4") || asked->starts_with("q5"));
  if (is_of_few_bits && use == TensorUse::scores) return {"Q8_0", "the map to scores of tokens"};
  return {wanted};
}

void TensorError::add(const ConvertedTensor& tensor, const Tensor& before, const Tensor& after, double slack) {
  if (!(before.shape() == after.shape())) {
    throw Error("\"" + tensor.name + "\": read back with the shape " + after.shape().to_string() + ", expected " +
                before.shape().to_string());
  }
  const Tensor old_values(before, DType::f32);
  const Tensor new_values(after, DType::f32);
  const std::span<const float> old_numbers = old_values.values<float>();
  const std::span<const float> new_numbers = new_values.values<float>();
  const bool is_in_blocks = tensor.type.starts_with('Q');
  const std::size_t each = is_in_blocks ? static_cast<std::size_t>(kBlock) : 1;
  const files::RoundingBound bound = files::rounding_bound(tensor.type);
  for (std::size_t n = 0; n < old_numbers.size(); n += each) {
    const std::size_t count = std::min(each, old_numbers.size() - n);
    double most = 0;
    for (const float number : old_numbers.subspan(n, count))
      most = std::max(most, std::fabs(static_cast<double>(number)));
    for (std::size_t i = n; i < n + count; ++i) {
      const auto old_number = static_cast<double>(old_numbers[i]);
      const auto new_number = static_cast<double>(new_numbers[i]);
      const double error = std::fabs(new_number - old_number);
      const bool is_same = old_number == new_number || (std::isnan(old_number) && std::isnan(new_number));
      if (!is_same && !(error <= bound.of(most) + slack * (1 + std::fabs(old_number)))) {
        throw Error(fmt::format("\"{}\": {:.9g} was read back as {:.9g}, further than {} allows", tensor.name,
                                old_number, new_number, tensor.type));
      }
      if (is_same) {
        size_ += std::isfinite(old_number) ? old_number * old_number : 0;
      } else {
        error_ += error * error;
        size_ += old_number * old_number;
      }
    }
  }
}

double TensorError::relative() const { return error_ == 0 ? 0 : std::sqrt(error_ / size_); }

}  // namespace qkv::saving
