#include "kernels/product/packed_weight.h"

#include "kernels/product/dense.h"
#include "kernels/product/onednn_product.h"
#include "kernels/product/panel_product.h"
#include "qkv/threads.h"

namespace qkv::kernels {
namespace {

class PanelWeight final : public PackedWeight {
 public:
  PanelWeight(const TensorView& weight, DType dtype)
      : dtype_(dtype), loops_(panel_loops(dtype, dtype)), panels_(loops_, loops_.columns, weight, threads()) {}

  void multiply(const MutableTensorView& out, const TensorView& x, const TensorView* bias) const override {
    const Dense shift = bias == nullptr ? Dense() : Dense::of(*bias, DType::f32);
    const Dense rows = takes(x.dtype()) ? Dense() : Dense::copy_of(x, dtype_);
    multiply_panels(out, rows.owns() ? rows.view() : x, panels_, shift.view().data_as<float>(), Into::written,
                    threads());
  }

  void add_product(const MutableTensorView& out, const TensorView& x) const override {
    multiply_panels(out, x, panels_, nullptr, Into::added, threads());
  }

 private:
  // Panels of f32 take all.
  [[nodiscard]] bool takes(DType dtype) const { return loops_.elements == 1 || dtype == dtype_; }

  DType dtype_;
  const PanelLoops& loops_;
  Panels panels_;
};

}  // namespace

std::shared_ptr<const PackedWeight> PackedWeight::of(const TensorView& weight, DType dtype) {
  if (onednn_is_faster(dtype)) {
    std::shared_ptr<const PackedWeight> packed = onednn_weight(weight, dtype);
    if (packed != nullptr) return packed;
  }
  const bool is_widened = panel_loops(dtype, dtype).elements == 1;
  const Dense used = is_widened ? Dense() : Dense::of(weight, dtype);
  return std::make_shared<PanelWeight>(is_widened ? weight : used.view(), dtype);
}

}  // namespace qkv::kernels
