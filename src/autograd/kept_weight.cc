#include "autograd/kept_weight.h"

namespace qkv::autograd {

std::shared_ptr<const kernels::PackedWeight> KeptWeight::of(const Value& weight, DType dtype) {
  const std::shared_ptr<const KeptWeight> kept = weight.storage->kept_weight();
  const bool is_met = kept != nullptr && kept->version_ == weight.storage->version() && kept->dtype_ == dtype;
  if (is_met && kept->packed_ != nullptr) return kept->packed_;
  auto next = std::make_shared<KeptWeight>(Secret{}, weight, dtype);
  if (is_met) next->packed_ = kernels::PackedWeight::of(weight.view, dtype);
  weight.storage->keep_weight(next);
  return next->packed_;
}

}  // namespace qkv::autograd
