#include "nn/known_linears.h"

#include <utility>

#include "autograd/node.h"
#include "nn/tracing.h"

namespace qkv::nn {
namespace {

KnownLinears*& noted_now() {
  thread_local KnownLinears* known = nullptr;
  return known;
}

LinearDifferences*& differences_now() {
  thread_local LinearDifferences* differences = nullptr;
  return differences;
}

// [..., width] -> [rows, width]
TensorView rows_of(const TensorView& x) {
  const std::int64_t width = x.dim(-1);
  return x.reshape({width == 0 ? 0 : x.size() / width, width});
}

bool repeats(const Variable& x, const Variable& known) {
  if (x.rank() < 2 || x.rank() != known.rank() || x.dtype() != DType::f32 || known.dtype() != DType::f32) return false;
  Shape one = x.shape();
  one[0] = known.dim(0);
  return one == known.shape() && known.size() > 0 && x.dim(0) % known.dim(0) == 0;
}

Variable dense_f32(const Variable& x) { return x.value().is_contiguous() ? x.detach() : Variable(Tensor(x.value())); }

}  // namespace

void KnownLinears::note(const std::string& name, const Variable& x, const Variable& out) {
  if (x.dtype() != DType::f32 || out.dtype() != DType::f32 || twice_.contains(name)) return;
  if (known_.erase(name) > 0) {
    twice_.insert(name);
    return;
  }
  known_.emplace(name, Known{.x = dense_f32(x), .out = dense_f32(out)});
}

const KnownLinears::Known* KnownLinears::find(const std::string& name) const {
  const auto found = known_.find(name);
  return found == known_.end() ? nullptr : &found->second;
}

const kernels::PackedWeight* RoundedWeights::of(const std::string& name, const Variable& weight) {
  const auto [place, is_new] = packed_.try_emplace(name);
  if (is_new) place->second = kernels::PackedWeight::of(weight.value(), DType::bf16);
  return place->second.get();
}

NotedLinears::NotedLinears(KnownLinears& known) : before_(std::exchange(noted_now(), &known)) {}

NotedLinears::~NotedLinears() { noted_now() = before_; }

LinearDifferences::LinearDifferences(const KnownLinears& known, RoundedWeights& weights)
    : known_(known), weights_(weights), before_(std::exchange(differences_now(), this)) {}

LinearDifferences::~LinearDifferences() { differences_now() = before_; }

const LinearDifferences::Read& LinearDifferences::read(const Variable& x, const Variable& known) {
  const auto is_same = [](const Variable& a, const Variable& b) { return a.value().data() == b.value().data(); };
  if (last_ && is_same(last_->x, x) && is_same(last_->known, known)) return *last_;
  const Variable dense = dense_f32(x);
  const TensorView rows = rows_of(dense.value());
  kernels::RowDifferences differences(rows, rows_of(known.value()));
  Variable far(kernels::rows_at(rows, differences.far()));
  last_ = Read{.x = x, .known = known, .differences = std::move(differences), .far = std::move(far)};
  return *last_;
}

Variable LinearDifferences::product(const Variable& x, const Variable& weight, const Multiply& multiply) {
  const std::string name = name_of_scope();
  const KnownLinears::Known* const known = known_.find(name);
  const bool may = known != nullptr && weight.quantised() == nullptr && !autograd::recording() && repeats(x, known->x);
  if (!may || known->out.dim(-1) != weight.dim(0)) return {};
  const kernels::PackedWeight* const packed = weights_.of(name, weight);
  if (packed == nullptr) return {};
  const Read& rows = read(x, known->x);
  Shape shape = x.shape();
  shape[shape.rank() - 1] = weight.dim(0);
  autograd::Value out = autograd::new_value(DType::f32, shape);
  out.view = rows_of(out.view);
  rows.differences.multiply(out.writable(), rows_of(known->out.value()), *packed);
  if (rows.far.size() > 0) kernels::put_rows(multiply(rows.far).value(), rows.differences.far(), out.writable());
  out.view = out.view.reshape(shape);
  return autograd::recorded("linear", std::move(out), {&x, &weight}, {});
}

bool has_known_linears() noexcept { return noted_now() != nullptr || differences_now() != nullptr; }

Variable known_linear(const Variable& x, const Variable& weight, const Multiply& multiply) {
  if (!is_traced()) return multiply(x);
  if (differences_now() != nullptr) {
    Variable out = differences_now()->product(x, weight, multiply);
    if (!out.empty()) return out;
  }
  Variable out = multiply(x);
  if (noted_now() != nullptr) noted_now()->note(name_of_scope(), x, out);
  return out;
}

}  // namespace qkv::nn
