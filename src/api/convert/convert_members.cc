#include "qkv/api/convert.h"

namespace qkv {

Members<ConvertedTensor> describe(const ConvertedTensor* /*type*/) {
  using T = ConvertedTensor;
  return Members<T>("ConvertedTensor")
      .add(&T::name, "name", "In the new file")
      .add(&T::type, "type", "There: F32, Q8_0")
      .add(&T::shape, "shape", "The outermost axis first")
      .add(&T::bytes, "bytes", "There")
      .add(&T::error, "error", "|new - old| / |old|, by the root of the sum of squares over the tensor")
      .add_if_there(&T::kept, "kept", "Why its type is not the one that was asked for");
}

Members<ConvertFigures> describe(const ConvertFigures* /*type*/) {
  using F = ConvertFigures;
  return Members<F>("ConvertFigures")
      .add(&F::model, "model", "What was converted")
      .add(&F::out, "out", "What was written")
      .add(&F::form, "form", "GGUF, safetensors or a folder")
      .add(&F::bytes, "bytes", "Of what was written")
      .add(&F::worst, "worst", "The tensor with the largest error")
      .add(&F::worst_error, "worst_error", "Its error")
      .add(&F::tensors, "tensors", "In the order of the new file")
      .add(&F::cautions, "cautions", "What the new file does not say");
}

}  // namespace qkv
