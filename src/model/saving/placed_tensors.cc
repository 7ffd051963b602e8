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
using families::Fused;
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

// So many rows of each part at a time, of all parts in turn: with one turn they lie one below the other.
Tensor woven(const std::vector<Tensor>& parts, std::int64_t turns) {
  if (parts.size() == 1) return parts.front();
  std::vector<std::int64_t> extents = extents_of(parts.front().shape());
  extents.front() = 0;
  for (const Tensor& part : parts) extents.front() += part.dim(0);
  Tensor whole(parts.front().dtype(), Shape(std::span<const std::int64_t>(extents)));
  std::vector<Tensor> dense;
  for (const Tensor& part : parts) dense.emplace_back(part);
  auto* at = static_cast<std::byte*>(whole.data());
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    for (const Tensor& part : dense) {
      const std::size_t bytes =
          static_cast<std::size_t>(part.size()) * size_of(part.dtype()) / static_cast<std::size_t>(turns);
      std::memcpy(at, static_cast<const std::byte*>(part.data()) + static_cast<std::size_t>(turn) * bytes, bytes);
      at += bytes;
    }
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

// How the parts of a tensor become it.
struct Weaving {
  const WeightName* weight;
  std::int64_t key_heads;
};

// Of one expert, or of a tensor that is of none.
Tensor joined(const std::vector<Tensor>& parts, const Weaving& weaving) {
  const WeightName& weight = *weaving.weight;
  const std::int64_t turns = weight.in_turn                  ? parts.front().dim(0)
                             : weight.fused == Fused::groups ? weaving.key_heads
                                                             : 1;
  const Tensor whole = woven(parts, turns);
  const bool is_transposed = weight.change == Change::transposed && whole.rank() == 2;
  return is_transposed ? Tensor(whole.view().transpose(0, 1)) : whole;
}

Tensor of_all_experts(const std::vector<Tensor>& parts, const Weaving& weaving) {
  const auto each = static_cast<std::size_t>(weaving.weight->parts);
  std::vector<Tensor> experts;
  for (std::size_t n = 0; n < parts.size(); n += each) {
    const auto first = parts.begin() + static_cast<std::ptrdiff_t>(n);
    experts.push_back(joined({first, first + static_cast<std::ptrdiff_t>(each)}, weaving));
  }
  return woven(experts, 1);
}

std::vector<std::int64_t> shape_of(const std::vector<Parameter>& parts, const WeightName& weight) {
  std::vector<std::int64_t> shape = extents_of(parts.front().value.shape());
  for (std::size_t n = 1; n < parts.size(); ++n) shape.front() += parts[n].value.shape()[0];
  const std::int64_t experts = std::ssize(parts) / weight.parts;
  if (weight.of_experts) shape.front() /= experts;
  if (weight.change == Change::transposed && shape.size() == 2) std::swap(shape[0], shape[1]);
  if (weight.change == Change::reshaped && shape.front() == 1) shape.erase(shape.begin());
  if (weight.of_experts) shape.insert(shape.begin(), experts);
  return shape;
}

using ChangeOf = std::function<Tensor(Tensor)>;

Tensor values_of(const PlacedTensor& tensor, const Weaving& weaving, const ChangeOf& changed, const ValueOf& value) {
  std::vector<Tensor> made;
  for (const Parameter& part : tensor.parts) made.push_back(changed ? changed(value(part)) : value(part));
  Tensor whole = weaving.weight->of_experts ? of_all_experts(made, weaving) : joined(made, weaving);
  return std::move(whole).reshaped(Shape(std::span<const std::int64_t>(tensor.shape)));
}

// In the order of the first parameter of each.
class Placing {
 public:
  Placing(const ValueOf& value, std::int64_t key_heads) : value_(value), key_heads_(key_heads) {}

  void add(const Parameter& parameter, const std::string& name, const WeightName& weight, const ChangeOf& changed) {
    const auto [place, is_new] = places_.try_emplace(name, all_.size());
    if (is_new) all_.push_back({{name, {}, {}, nullptr}, {.weight = &weight, .key_heads = key_heads_}, changed});
    all_[place->second].tensor.parts.push_back(parameter);
  }
  std::vector<PlacedTensor> take() {
    std::vector<PlacedTensor> tensors;
    for (Placed& placed : all_) {
      placed.tensor.shape = shape_of(placed.tensor.parts, *placed.weaving.weight);
      tensors.push_back(placed.tensor);
      tensors.back().values = [value = value_, placed] {
        return values_of(placed.tensor, placed.weaving, placed.changed, value);
      };
    }
    return tensors;
  }

 private:
  struct Placed {
    PlacedTensor tensor;
    Weaving weaving;
    ChangeOf changed;
  };

  const ValueOf& value_;
  std::int64_t key_heads_;
  std::vector<Placed> all_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

ChangeOf change_for_gguf(GgufChange change, const std::string& name, const families::HeadSizes& heads) {
  if (change == GgufChange::norms_plus_one && name.ends_with("norm.weight")) return plus_one;
  if (change != GgufChange::interleaved_heads) return nullptr;
  const bool is_query = name.ends_with(".attn_q.weight") || name.ends_with(".attn_q.bias");
  const bool is_key = name.ends_with(".attn_k.weight") || name.ends_with(".attn_k.bias");
  if (!is_query && !is_key) return nullptr;
  return [count = is_query ? heads.Hq : heads.Hk](const Tensor& rows) { return in_pairs(rows, count); };
}

}  // namespace

Tensor own_value(const Parameter& parameter) { return Tensor(parameter.value.value()); }

namespace {

families::HeadSizes heads_in(const Model& model) {
  const Decoder* decoder = model.traits().goes_on ? model.parts().decoder : nullptr;
  return decoder == nullptr ? families::HeadSizes{} : families::heads_of(decoder->options());
}

std::string name_of_place(const ParameterName& parameter, const WeightName& weight, std::string_view theirs) {
  const bool is_whole = weight.ours == parameter.whole;
  return parameter.numbered(theirs) + (is_whole ? "" : parameter.last);
}

// A name that no other parameter of the model has goes before the one that makes a difference.
std::string_view gguf_name_in(const families::GgufFamily& family, const WeightName& weight, const Model& model) {
  if (weight.otherwise.empty()) return weight.theirs;
  const bool is_taken = std::ranges::any_of(model.parameters(), [&](const Parameter& parameter) {
    const WeightName* other = name_of_parameter(family.names, ParameterName(parameter.name));
    return other != nullptr && other != &weight && other->theirs == weight.otherwise;
  });
  return is_taken ? weight.theirs : weight.otherwise;
}

}  // namespace

std::vector<PlacedTensor> placed_in_gguf(const families::GgufFamily& family, const Model& model, const ValueOf& value,
                                         std::vector<std::string>& left_out) {
  const families::HeadSizes heads = heads_in(model);
  Placing placing(value, heads.Hk);
  for (const Parameter& parameter : model.parameters()) {
    const ParameterName name(parameter.name);
    const WeightName* weight = name_of_parameter(family.names, name);
    if (weight == nullptr) {
      left_out.push_back(parameter.name);
      continue;
    }
    const std::string theirs = name_of_place(name, *weight, gguf_name_in(family, *weight, model));
    const auto changed = change_for_gguf(family.change, theirs, heads);
    placing.add(parameter, theirs, *weight, changed);
  }
  return placing.take();
}

std::vector<PlacedTensor> placed_in_folder(const families::Family& family, const Model& model, const ValueOf& value) {
  // A table has one name, and so has the only map of a feed-forward layer without a gate.
  const Parameters all = model.parameters();
  const bool is_gated = std::ranges::any_of(all, [](const Parameter& p) { return p.name.ends_with(".gate.weight"); });
  // Norms of sublayers side by side have their names by how many there are.
  const bool has_two_norms =
      std::ranges::any_of(all, [](const Parameter& p) { return p.name.ends_with(".ln2.weight"); });
  const std::string prefix = model.traits().fills ? "" : std::string(family.prefix);
  Placing placing(value, heads_in(model).Hk);
  for (const Parameter& parameter : all) {
    const ParameterName name(parameter.name);
    const WeightName* weight = name_of_parameter(family.names, name);
    if (weight == nullptr) throw Error("a folder of " + std::string(family.type) + " has no " + parameter.name);
    const bool is_one_of_two = has_two_norms && name.layer().ends_with(".ln1");
    const bool by_other = !weight->otherwise.empty() && !weight->in_head && !name.layer().ends_with("output") &&
                          !is_one_of_two && !name.layer().ends_with(".ln2") &&
                          (name.layer().ends_with("embedding") || !is_gated);
    const std::string_view theirs = by_other ? weight->otherwise : weight->theirs;
    placing.add(parameter, (weight->in_head ? "" : prefix) + name_of_place(name, *weight, theirs), *weight, nullptr);
  }
  return placing.take();
}

}  // namespace qkv::saving
