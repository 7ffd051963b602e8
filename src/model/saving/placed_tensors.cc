#include "model/saving/placed_tensors.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <variant>

#include "model/families/loading.h"
#include "model/families/stored_weights.h"
#include "qkv/error.h"

namespace qkv::saving {
namespace {

using families::Change;
using families::GgufChange;
using families::ParameterName;
using families::WeightName;

const WeightName* name_of_parameter(std::span<const WeightName> names, const ParameterName& parameter) {
  for (const WeightName& name : names) {
    if (name.ours == parameter.layer() || name.ours == parameter.whole) return &name;
  }
  return nullptr;
}

std::vector<std::int64_t> extents_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

// The parts one below the other.
Tensor stacked(const std::vector<Tensor>& parts) {
  if (parts.size() == 1) return parts.front();
  std::vector<std::int64_t> extents = extents_of(parts.front().shape());
  extents.front() = 0;
  for (const Tensor& part : parts) extents.front() += part.dim(0);
  Tensor whole(parts.front().dtype(), Shape(std::span<const std::int64_t>(extents)));
  auto* at = static_cast<std::byte*>(whole.data());
  for (const Tensor& part : parts) {
    const Tensor dense(part);
    const std::size_t bytes = static_cast<std::size_t>(dense.size()) * size_of(dense.dtype());
    std::memcpy(at, dense.data(), bytes);
    at += bytes;
  }
  return whole;
}

// Rows of each head from halves to pairs that lie side by side: 0, n / 2, 1, n / 2 + 1, …
Tensor in_pairs(const Tensor& rows, std::int64_t heads) {
  const std::int64_t width = rows.dim(0) / heads;
  const std::int64_t each = rows.rank() < 2 ? 1 : rows.dim(1);
  return Tensor(rows.view().reshape({heads, 2, width / 2, each}).transpose(1, 2)).reshaped(rows.shape());
}

Tensor plus_one(const Tensor& weights) {
  Tensor more(weights, DType::f32);
  for (float& weight : more.values<float>()) weight += 1;
  return more;
}

// In the order of the first parameter of each.
class Placing {
 public:
  explicit Placing(const ValueOf& value) : value_(value) {}

  void add(const Parameter& parameter, std::string name, const WeightName& weight,
           const std::function<Tensor(Tensor)>& changed) {
    const auto [place, is_new] = places_.try_emplace(name, all_.size());
    if (is_new) all_.push_back({std::move(name), {}, {}, nullptr});
    PlacedTensor& tensor = all_[place->second];
    tensor.parts.push_back(parameter);
    const bool is_transposed = weight.change == Change::transposed && parameter.value.shape().rank() == 2;
    tensor.values = [value = value_, parts = tensor.parts, changed, is_transposed] {
      std::vector<Tensor> made;
      for (const Parameter& part : parts) made.push_back(changed ? changed(value(part)) : value(part));
      const Tensor whole = stacked(made);
      return is_transposed ? Tensor(whole.view().transpose(0, 1)) : whole;
    };
    tensor.shape = extents_of(tensor.parts.front().value.shape());
    for (std::size_t n = 1; n < tensor.parts.size(); ++n) tensor.shape.front() += tensor.parts[n].value.shape()[0];
    if (is_transposed) std::swap(tensor.shape[0], tensor.shape[1]);
  }
  std::vector<PlacedTensor> take() { return std::move(all_); }

 private:
  const ValueOf& value_;
  std::vector<PlacedTensor> all_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

std::function<Tensor(Tensor)> change_for_gguf(GgufChange change, const std::string& name,
                                              const families::HeadSizes& heads) {
  if (change == GgufChange::norms_plus_one && name.ends_with("norm.weight")) return plus_one;
  if (change != GgufChange::interleaved_heads) return nullptr;
  const bool is_query = name.ends_with(".attn_q.weight") || name.ends_with(".attn_q.bias");
  const bool is_key = name.ends_with(".attn_k.weight") || name.ends_with(".attn_k.bias");
  if (!is_query && !is_key) return nullptr;
  return [count = is_query ? heads.Hq : heads.Hk](const Tensor& rows) { return in_pairs(rows, count); };
}

}  // namespace

Tensor own_value(const Parameter& parameter) { return Tensor(parameter.value.value()); }

std::vector<PlacedTensor> placed_in_gguf(const families::GgufFamily& family, const Model& model, const ValueOf& value,
                                         std::vector<std::string>& left_out) {
  const Decoder* decoder = model.traits().goes_on ? model.parts().decoder : nullptr;
  const families::HeadSizes heads = decoder == nullptr ? families::HeadSizes{} : families::heads_of(decoder->options());
  Placing placing(value);
  for (const Parameter& parameter : model.parameters()) {
    const ParameterName name(parameter.name);
    const WeightName* weight = name_of_parameter(family.names, name);
    if (weight == nullptr) {
      left_out.push_back(parameter.name);
      continue;
    }
    std::string theirs = name.numbered(weight->theirs);
    theirs += name.last;
    const auto changed = change_for_gguf(family.change, theirs, heads);
    placing.add(parameter, std::move(theirs), *weight, changed);
  }
  return placing.take();
}

std::vector<PlacedTensor> placed_in_folder(const families::Family& family, const Model& model, const ValueOf& value) {
  // A table has one name, and so has the only map of a feed-forward layer without a gate.
  const Parameters all = model.parameters();
  const bool is_gated = std::ranges::any_of(all, [](const Parameter& p) { return p.name.ends_with(".gate.weight"); });
  const std::string prefix = model.traits().fills ? "" : std::string(family.prefix);
  Placing placing(value);
  for (const Parameter& parameter : all) {
    const ParameterName name(parameter.name);
    const WeightName* weight = name_of_parameter(family.names, name);
    if (weight == nullptr) throw Error("a folder of " + std::string(family.type) + " has no " + parameter.name);
    const bool by_other = !weight->otherwise.empty() && !weight->in_head && !name.layer().ends_with("output") &&
                          (name.layer().ends_with("embedding") || !is_gated);
    const std::string_view theirs = by_other ? weight->otherwise : weight->theirs;
    placing.add(parameter, (weight->in_head ? "" : prefix) + name.numbered(theirs) + name.last, *weight, nullptr);
  }
  return placing.take();
}

}  // namespace qkv::saving
