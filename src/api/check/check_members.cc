// Members of what is said of two files.
#include "qkv/api/check.h"

namespace qkv {

Members<CheckedPlace> describe(const CheckedPlace* /*type*/) {
  using P = CheckedPlace;
  return Members<P>("CheckedPlace")
      .add(&P::index, "index", "Of the element")
      .add(&P::a, "a", "Its value in A; null for what is no finite number")
      .add(&P::b, "b", "Likewise in B")
      .add(&P::text_a, "text_a", "That of A with all digits, also nan, inf and -inf")
      .add(&P::text_b, "text_b", "That of B")
      .add(&P::absolute_error, "absolute_error", "|A - B|; null if one is not finite")
      .add(&P::relative_error, "relative_error", "|A - B| / |B|")
      .add(&P::allowed, "allowed", "atol + rtol * |B|");
}

Members<CheckedTensor> describe(const CheckedTensor* /*type*/) {
  using T = CheckedTensor;
  return Members<T>("CheckedTensor")
      .add(&T::name, "name", "In its archive; empty where it has none")
      .add(&T::equal, "equal", "Whether shapes, element types and all elements are")
      .add(&T::shape_a, "shape_a", "Of A")
      .add(&T::shape_b, "shape_b", "Of B")
      .add(&T::dtype_a, "dtype_a", "Element type of A")
      .add(&T::dtype_b, "dtype_b", "Element type of B")
      .add(&T::mismatches, "mismatches", "Elements beyond the tolerance; 0 where the shapes differ")
      .add(&T::both_nan, "both_nan", "Elements that are NaN in both")
      .add_if_there(&T::worst, "worst", "The element furthest beyond what is allowed, or closest to it");
}

Members<CheckFigures> describe(const CheckFigures* /*type*/) {
  using F = CheckFigures;
  return Members<F>("CheckFigures")
      .add(&F::a, "a", "The file that is compared")
      .add(&F::b, "b", "What it should be")
      .add(&F::rtol, "rtol", "Allowed relative to |B|")
      .add(&F::atol, "atol", "Allowed on top")
      .add(&F::equal, "equal", "Whether all tensors are, and both files have the same")
      .add(&F::tensors, "tensors", "Those that both files have")
      .add(&F::only_a, "only_a", "Names of tensors that A alone has")
      .add(&F::only_b, "only_b", "Names of tensors that B alone has");
}

}  // namespace qkv
