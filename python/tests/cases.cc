// The table of cases (tests/cases) for Python: inputs in their layouts, options, and what the engine answers in C++.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "cases/covering.h"
#include "cases/inputs.h"

namespace nb = nanobind;

namespace {

using qkv::DType;
using qkv::Tensor;
using qkv::TensorView;
using qkv::cases::Case;

nb::dlpack::dtype type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return nb::dtype<double>();
    case DType::f32:
      return nb::dtype<float>();
    case DType::b8:
      return nb::dtype<bool>();
    case DType::f16:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    default:
      return nb::dtype<std::uint16_t>();  // the bits of bf16
  }
}

// A view of elements that `owner` keeps.
template <class Owner>
nb::object array_of(const TensorView& view, const std::shared_ptr<Owner>& owner) {
  const nb::capsule keeper(new std::shared_ptr<Owner>(owner),
                           [](void* held) noexcept { delete static_cast<std::shared_ptr<Owner>*>(held); });
  const std::vector<std::size_t> shape(view.shape().begin(), view.shape().end());
  return nb::ndarray<nb::numpy>(const_cast<void*>(view.data()), shape.size(), shape.data(), keeper,
                                view.strides().begin(), type_of(view.dtype()))
      .cast();
}

nb::object array_of(Tensor tensor) {
  const auto owner = std::make_shared<Tensor>(std::move(tensor));
  return array_of(owner->view(), owner);
}

template <class Element, class ValueAt>
nb::object of_each_place(DType dtype, const qkv::MaskShape& shape, const ValueAt& value_at) {
  Tensor tensor(dtype, {shape.B, shape.H, shape.Tq, shape.Tk});
  auto* one = static_cast<Element*>(tensor.data());
  for (qkv::Place place; place.b < shape.B; ++place.b) {
    for (place.h = 0; place.h < shape.H; ++place.h) {
      for (place.i = 0; place.i < shape.Tq; ++place.i) {
        for (place.j = 0; place.j < shape.Tk; ++place.j) *one++ = value_at(place);
      }
    }
  }
  return array_of(std::move(tensor));
}

nb::object optional(const std::optional<double>& value) { return value ? nb::object(nb::float_(*value)) : nb::none(); }

nb::dict inputs_of(const std::string& text) {
  const Case one = qkv::cases::parse_case(text);
  const auto inputs = std::make_shared<qkv::cases::Inputs>(qkv::cases::Inputs::of(one));
  const qkv::AttentionOptions& options = inputs->options;
  const qkv::MaskShape shape = one.shape();
  nb::dict dict;
  dict["is_bf16"] = one.dtype == DType::bf16;
  dict["q"] = array_of(inputs->q.view().view(), inputs);
  dict["k"] = array_of(inputs->k.view().view(), inputs);
  dict["v"] = array_of(inputs->v.view().view(), inputs);
  dict["mask"] = of_each_place<bool>(DType::b8, shape, [&](const auto& at) { return options.mask.allows(at, shape); });
  dict["bias"] = of_each_place<double>(DType::f64, shape, [&](const auto& at) { return options.bias.at(at, shape); });
  dict["mask_text"] = options.mask.to_string();
  dict["bias_text"] = options.bias.to_string();
  dict["scale"] = optional(options.scale);
  dict["softcap"] = optional(options.softcap);
  dict["sinks"] = options.sinks.empty() ? nb::none() : nb::cast(options.sinks);
  dict["dropout"] = nb::none();
  if (options.dropout) {
    const auto [p, seed] = *options.dropout;
    dict["dropout"] = nb::make_tuple(p, seed);
    dict["kept"] = of_each_place<bool>(
        DType::b8, shape, [p = p, seed = seed](const auto& at) { return qkv::dropout_keeps(seed, p, at); });
  }
  const qkv::AttentionResult result =
      attention(inputs->q.view().view(), inputs->k.view().view(), inputs->v.view().view(), options);
  dict["out"] = array_of(result.out);
  dict["lse"] = array_of(result.lse);
  return dict;
}

}  // namespace

NB_MODULE(qkv_cases_of_python, module) {
  module.def("rows", [] {
    std::vector<std::string> texts;
    for (const Case& one : qkv::cases::table()) texts.push_back(to_text(one));
    return texts;
  });
  module.def("inputs_of", &inputs_of);
}
