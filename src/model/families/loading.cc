#include "model/families/loading.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "core/listed.h"
#include "core/number_text.h"
#include "model/weights.h"
#include "nn/trace_record.h"
#include "qkv/error.h"

namespace qkv::families {
namespace {

// Which of `experts` it is; `experts` where its name says none of them.
std::int64_t expert_of(const ParameterName& parameter, std::int64_t experts) {
  return std::min(core::number_from<std::int64_t>(parameter.expert).value_or(experts), experts);
}

// The expert's of a weight that holds those of all, in place; the whole if it does not.
Tensor of_expert(const Tensor& all, const ParameterName& parameter, std::int64_t experts) {
  const std::int64_t e = expert_of(parameter, experts);
  if (all.rank() < 2 || all.dim(0) != experts || e == experts || !all.is_contiguous()) return all;
  return Tensor::borrow(all.view().select(0, e), std::make_shared<Tensor>(all));
}

// Likewise of blocks.
QuantisedTensor of_expert(const QuantisedTensor& all, const ParameterName& parameter, std::int64_t experts) {
  const std::int64_t e = expert_of(parameter, experts);
  const Shape& shape = all.shape();
  if (shape.rank() != 3 || shape[0] != experts || e == experts) return all;
  const std::size_t bytes = all.blocks().size() / static_cast<std::size_t>(experts);
  return {all.type(),
          {shape[1], shape[2]},
          all.blocks().subspan(static_cast<std::size_t>(e) * bytes, bytes),
          std::make_shared<QuantisedTensor>(all)};
}

// The part of numbers that take turns along the last axis.
TensorView every_other(const TensorView& stored, const WeightName& name) {
  std::vector<std::int64_t> extents(stored.shape().begin(), stored.shape().end());
  extents.back() /= name.parts;
  extents.push_back(name.parts);
  return stored.reshape(Shape(std::span<const std::int64_t>(extents))).select(stored.rank(), name.part);
}

// Along its output axis, which is the last one of a stored transpose.
TensorView part_of(const TensorView& stored, const WeightName& name, std::int64_t skipped) {
  if (name.in_turn) return every_other(stored, name);
  const int axis = name.change == Change::transposed ? stored.rank() - 1 : 0;
  const std::int64_t all = stored.dim(axis) - skipped;
  const std::int64_t each = all / name.parts;
  const std::int64_t begin = skipped + name.part * each;
  return stored.slice(axis, begin, begin + each);
}

bool divides(const Tensor& tensor, const WeightName& name) {
  if (name.parts == 1) return true;
  const int axis = name.change == Change::transposed || name.in_turn ? -1 : 0;
  return tensor.rank() > 0 && tensor.dim(axis) % name.parts == 0;
}

bool has_rows_to_skip(const Tensor& tensor, std::int64_t skipped) {
  return skipped == 0 || (tensor.rank() > 0 && tensor.dim(0) >= skipped);
}

// Where the rows of q, k or v, part 0, 1 or 2, begin and end: of all heads, or of a group.
struct FusedRows {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t all;
};
FusedRows fused_part(const WeightName& name, const HeadSizes& heads) {
  const std::int64_t group = heads.Hq / heads.Hk;
  const std::int64_t of_queries = (name.fused == Fused::rows ? heads.Hq : group) * heads.D;
  const std::int64_t of_keys = (name.fused == Fused::rows ? heads.Hk : 1) * heads.D;
  const std::int64_t begin = name.part == 0 ? 0 : of_queries + (name.part - 1) * of_keys;
  return {.begin = begin, .end = name.part == 0 ? of_queries : begin + of_keys, .all = of_queries + 2 * of_keys};
}

// The rows of q, k or v of a weight that holds all three.
Tensor unfused(const TensorView& stored, const WeightName& name, const HeadSizes& heads) {
  const auto [begin, end, all] = fused_part(name, heads);
  if (name.fused == Fused::rows) return Tensor(stored.slice(0, begin, end));
  const std::int64_t width = stored.rank() == 1 ? 1 : stored.dim(1);
  const Tensor part(stored.reshape({heads.Hk, all, width}).slice(1, begin, end));
  const std::int64_t rows = heads.Hk * (end - begin);
  return part.reshape(stored.rank() == 1 ? Shape{rows} : Shape{rows, width});
}

std::int64_t fused_rows(const HeadSizes& heads) { return (heads.Hq + 2 * heads.Hk) * heads.D; }

Tensor changed(const Tensor& tensor, const WeightName& name, std::int64_t skipped, const Shape& shape,
               const HeadSizes& heads) {
  if (name.fused != Fused::none) {
    const bool fits = tensor.rank() >= 1 && tensor.rank() <= 2 && tensor.dim(0) == fused_rows(heads);
    return fits ? unfused(tensor, name, heads) : tensor;
  }
  if (!divides(tensor, name) || !has_rows_to_skip(tensor, skipped)) return tensor;
  if (name.change == Change::reshaped) return tensor.size() == shape.product() ? tensor.reshape(shape) : tensor;
  if (name.parts == 1 && skipped == 0 && name.change == Change::none) return tensor;
  const TensorView part = part_of(tensor, name, skipped);
  if (name.of_experts && name.change == Change::none && part.is_contiguous()) {
    return Tensor::borrow(part, std::make_shared<Tensor>(tensor));
  }
  return Tensor(name.change == Change::transposed && part.rank() == 2 ? part.transpose(0, 1) : part);
}

// What changed() does to blocks, where it can be done without their numbers.
std::optional<QuantisedTensor> changed_blocks(const QuantisedTensor& blocks, const WeightName& name,
                                              std::int64_t skipped, const Shape& shape, const HeadSizes& heads) {
  const Shape& stored = blocks.shape();
  if (name.change != Change::none || name.fused == Fused::groups || stored.rank() != 2 || shape.rank() != 2) {
    return std::nullopt;
  }
  if (name.fused == Fused::rows) {
    if (heads.Hk < 1 || stored[0] != fused_rows(heads) || stored[1] != shape[1]) return std::nullopt;
    const FusedRows rows = fused_part(name, heads);
    return blocks.rows(rows.begin, rows.end);
  }
  if (stored[0] < skipped || (stored[0] - skipped) % name.parts != 0) return std::nullopt;
  const std::int64_t each = (stored[0] - skipped) / name.parts;
  if (!(Shape{each, stored[1]} == shape)) return std::nullopt;
  if (name.in_turn) {
    std::vector<std::int64_t> order;
    for (std::int64_t n = 0; n < each; ++n) order.push_back(skipped + name.part + n * name.parts);
    return blocks.in_order(order);
  }
  const std::int64_t begin = skipped + name.part * each;
  return blocks.rows(begin, begin + each);
}

// The shape that the stored tensor should have.
std::string expected_of(const Parameter& parameter, const WeightName& name, std::int64_t skipped,
                        const HeadSizes& heads, std::int64_t experts) {
  std::vector<std::int64_t> extents;
  const Shape& shape = parameter.value.shape();
  for (int axis = 0; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
  extents.front() = name.fused == Fused::none ? extents.front() * name.parts + skipped : fused_rows(heads);
  if (name.change == Change::transposed && extents.size() == 2) std::swap(extents[0], extents[1]);
  if (name.of_experts) extents.insert(extents.begin(), experts);
  return Shape(extents).to_string();
}

}  // namespace

HeadSizes heads_of(const DecoderOptions& options) {
  return {.Hq = options.heads,
          .Hk = options.choices.kv_heads.value_or(options.heads),
          .D = options.choices.d_k.value_or(options.heads > 0 ? options.d_model / options.heads : 0)};
}

Loading::Found Loading::find(const Parameter& parameter) const {
  const ParameterName name(stack_ + parameter.name);
  const WeightName& weight = stored_.weight_of(name);
  const auto expected = [&] {
    return ": expected " + expected_of(parameter, weight, skipped_of(weight), heads_, experts_);
  };
  const std::optional<std::string> stored = stored_.find(weight, name);
  if (!stored) {
    return {{}, {}, stored_.expected(weight, name) + expected() + ", got no such tensor"};
  }
  WeightFiles::Stored read = stored_.files().stored(*stored);
  if (const auto* blocks = std::get_if<QuantisedTensor>(&read)) {
    const QuantisedTensor own = weight.of_experts ? of_expert(*blocks, name, experts_) : *blocks;
    if (auto rows = changed_blocks(own, weight, skipped_of(weight), parameter.value.shape(), heads_)) {
      if (numbers_) return {*stored, held_weight(Tensor(rows->dequantised(), *numbers_)), {}};
      return {*stored, *std::move(rows), {}};
    }
  }
  const Tensor tensor = as_tensor(std::move(read));
  const Tensor own = weight.of_experts ? of_expert(tensor, name, experts_) : tensor;
  Tensor value = changed(own, weight, skipped_of(weight), parameter.value.shape(), heads_);
  if (is_floating(value.dtype()) && value.shape() == parameter.value.shape()) {
    return {*stored, held_weight(std::move(value)), {}};
  }
  return {*stored,
          {},
          *stored + expected() + ", got " + tensor.shape().to_string() + " of " + std::string(name_of(tensor.dtype()))};
}

void Loading::add(const Parameter& parameter) {
  Found found = find(parameter);
  if (!found.stored.empty()) used_.insert(found.stored);
  if (!found.difference.empty()) {
    differences_.push_back(std::move(found.difference));
  } else {
    values_.emplace_back(parameter.value, std::move(found.value));
  }
}

Tensor Loading::value_of(const Parameter& parameter) const {
  Found found = find(parameter);
  if (!found.difference.empty()) throw Error(found.difference);
  return as_tensor(std::move(found.value));
}

void Loading::finish(const std::string& folder, const std::string& hint, std::vector<std::string>& cautions) {
  std::vector<std::string> heads;
  std::vector<std::string> others;
  for (const auto& [name, file] : stored_.files().names()) {
    if (used_.contains(name) || is_unused(name)) continue;
    if (!stored_.is_outside(name)) {
      differences_.push_back(name + ": a tensor that the model has no use for");
    } else {
      (stored_.is_of_head(name) ? heads : others).push_back(name);
    }
  }
  const std::string type(stored_.family().type);
  if (!differences_.empty()) {
    const bool is_one = differences_.size() == 1;
    std::string text = std::to_string(differences_.size()) + " of its tensors " +
                       (is_one ? "is not that of a " : "are not those of a ") + type + " with " + config_name_ + ":";
    for (const std::string& difference : differences_) text += "\n  " + difference;
    throw FileError(folder, text + (hint.empty() ? "" : "\n  " + hint));
  }
  constexpr std::size_t kMost = 4;
  if (!heads.empty()) {
    cautions.push_back(core::listed(heads, kMost) +
                       ": left out, a head that is not computed; states and attention are the model's");
  }
  if (!others.empty()) {
    cautions.push_back(core::listed(others, kMost) + ": left out: what qkv computes of a " + type +
                       " has no tensor of such a name");
  }
  for (auto& [parameter, value] : values_) {
    std::visit([&variable = parameter](auto& stored) { variable.replace_value(std::move(stored)); }, value);
  }
}

bool Loading::is_unused(const std::string& name) const {
  const auto matches = [&](std::string_view pattern) { return trace_detail::matches(pattern, name); };
  return std::ranges::any_of(stored_.family().unused, matches) || std::ranges::any_of(left_out_, matches);
}

}  // namespace qkv::families
