#include "options.h"

#include <tuple>

#include "arrays.h"
#include "said_as.h"

namespace qkv::python {
namespace {

[[noreturn]] void refuse_type(std::string_view function, std::string_view name, std::string_view expected,
                              nb::handle got) {
  const std::string text = std::string(function) + ": " + std::string(name) + ": expected " + std::string(expected) +
                           ", got " + said_type(got);
  throw nb::type_error(text.c_str());
}

// What a function of Python says of all places at once, as an array that broadcasts to [B, H, Tq, Tk].
nb::object evaluated(std::string_view word, std::string_view function, nb::handle rule, const MaskShape* shape) {
  if (shape == nullptr) {
    throw InvalidArgument(function, word, "a mask or bias whose shape is known",
                          "a function; give it to attention(), or call from_function() with a shape");
  }
  return nb::module_::import_("qkv._functions")
      .attr("evaluate")(nb::str(word.data(), word.size()), rule, shape->B, shape->H, shape->Tq, shape->Tk);
}

std::optional<Dropout> dropout_of(std::string_view function, const nb::object& dropout) {
  if (dropout.is_none()) return std::nullopt;
  double p = 0;
  if (nb::try_cast(dropout, p)) return Dropout{.p = p, .seed = 0};
  std::pair<double, std::uint64_t> both;
  if (!nb::try_cast(dropout, both)) refuse_type(function, "dropout", "a number or a pair (p, seed)", dropout);
  return Dropout{.p = both.first, .seed = both.second};
}

std::optional<Ragged> ragged_of(std::string_view function, const nb::object& ragged) {
  if (ragged.is_none()) return std::nullopt;
  std::pair<nb::object, nb::object> both;
  if (!nb::try_cast(ragged, both)) refuse_type(function, "ragged", "a pair (q_offsets, k_offsets)", ragged);
  return Ragged{.q_offsets = whole_numbers_of(both.first, {function, "ragged"}),
                .k_offsets = whole_numbers_of(both.second, {function, "ragged"})};
}

// As the command has it.
std::optional<int> threads_of(std::string_view function, std::optional<int> threads) {
  constexpr int kMost = 65536;
  if (!threads || (*threads >= 1 && *threads <= kMost)) return threads;
  throw InvalidArgument(function, "threads", "a whole number from 1 to 65536", std::to_string(*threads));
}

bool read_window(nb::handle within, MatrixWindow& window) {
  std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t> numbers;
  if (!nb::try_cast(within, numbers)) return false;
  std::tie(window.Tq, window.Tk, window.first_i, window.step_i, window.first_j, window.step_j) = numbers;
  return true;
}

// One, or a list with one for each document.
std::vector<MatrixWindow> windows_of(std::string_view function, const nb::object& within) {
  if (within.is_none()) return {};
  MatrixWindow window;
  if (read_window(within, window)) return {window};
  const auto refuse = [&] {
    refuse_type(function, "within", "a MatrixWindow, or a list with one for each document", within);
  };
  if (!nb::isinstance<nb::sequence>(within)) refuse();
  std::vector<MatrixWindow> windows;
  for (const nb::handle each : within) {
    if (!read_window(each, window)) refuse();
    windows.push_back(window);
  }
  return windows;
}

std::string_view target_of(std::string_view function, const nb::object& target) {
  if (target.is_none()) return {};
  if (!nb::isinstance<nb::str>(target)) refuse_type(function, "target", "a name", target);
  static_cast<void>(utf8_of(target, {function, "target"}));
  return nb::borrow<nb::str>(target).c_str();
}

// The mask or bias that a text stands for. The function's argument is named, but of the class itself.
template <class Parse>
auto expression_of(std::string_view function, std::string_view argument, std::string_view type, const Parse& parse) {
  try {
    return said_as(function, parse);
  } catch (const InvalidArgument& error) {
    if (function == type) throw;
    throw InvalidArgument(function, std::string(argument) + ": " + error.argument(), error.expected(), error.got());
  }
}

// What a part of a mask or bias says of its own argument is said of `argument`; of an array that is all of it.
template <class Body>
auto said_of_term(std::string_view function, std::string_view argument, std::string_view of_array, const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    const bool is_itself = error.function() == of_array || error.argument() == argument;
    const std::string name = std::string(argument) + (is_itself ? "" : ": " + error.argument());
    throw InvalidArgument(function, name, error.expected(), error.got());
  }
}

}  // namespace

Mask mask_of(std::string_view function, nb::handle mask, const MaskShape* shape) {
  if (mask.is_none()) return {};
  if (nb::isinstance<Mask>(mask)) return nb::cast<Mask>(mask);
  if (nb::isinstance<nb::str>(mask)) {
    const std::string text = utf8_of(mask, {function, "mask"});
    return expression_of(function, "mask", "Mask", [&] { return parse_mask(text); });
  }
  if (is_array(mask)) {
    return said_of_term(function, "mask", "dense", [&] { return dense(tensor_of(mask, {function, "mask"})); });
  }
  if (PyCallable_Check(mask.ptr()) == 0) refuse_type(function, "mask", "a Mask, a text, an array or a function", mask);
  return dense(tensor_of(evaluated("mask", function, mask, shape), {function, "mask"}));
}

Bias bias_of(std::string_view function, nb::handle bias, const MaskShape* shape) {
  if (bias.is_none()) return {};
  if (nb::isinstance<Bias>(bias)) return nb::cast<Bias>(bias);
  if (nb::isinstance<nb::str>(bias)) {
    const std::string text = utf8_of(bias, {function, "bias"});
    return expression_of(function, "bias", "Bias", [&] { return parse_bias(text); });
  }
  if (is_array(bias)) {
    return said_of_term(function, "bias", "dense_bias",
                        [&] { return dense_bias(tensor_of(bias, {function, "bias"})); });
  }
  if (PyCallable_Check(bias.ptr()) == 0) refuse_type(function, "bias", "a Bias, a text, an array or a function", bias);
  return dense_bias(tensor_of(evaluated("bias", function, bias, shape), {function, "bias"}));
}

AttentionOptions options_of(std::string_view function, const OptionArguments& arguments, const MaskShape& shape) {
  AttentionOptions options;
  options.ragged = ragged_of(function, arguments.ragged);
  options.within = windows_of(function, arguments.within);
  MaskShape whole = shape;
  if (!options.within.empty()) {
    whole.Tq = options.within.front().Tq;
    whole.Tk = options.within.front().Tk;
  }
  const MaskShape* known = options.ragged ? nullptr : &whole;  // each document has a shape of its own
  options.mask = mask_of(function, arguments.mask, known);
  options.bias = bias_of(function, arguments.bias, known);
  if (known != nullptr) {
    said_of_term(function, "mask", "dense", [&] { options.mask.validate(whole); });
    said_of_term(function, "bias", "dense_bias", [&] { options.bias.validate(whole); });
  }
  options.scale = arguments.scale;
  options.softcap = arguments.softcap;
  options.dropout = dropout_of(function, arguments.dropout);
  if (!arguments.sinks.is_none()) options.sinks = numbers_of(arguments.sinks, {function, "sinks"});
  options.threads = threads_of(function, arguments.threads);
  options.target = target_of(function, arguments.target);
  return options;
}

Align align_of(std::string_view function, std::string_view word) {
  if (word == "bottom_right") return Align::bottom_right;
  if (word == "top_left") return Align::top_left;
  throw InvalidArgument(function, "align", "bottom_right or top_left", "\"" + std::string(word) + "\"");
}

Stage stage_of(std::string_view function, std::string_view word) {
  for (int n = 0; n < kStages; ++n) {
    if (name_of(static_cast<Stage>(n)) == word) return static_cast<Stage>(n);
  }
  throw InvalidArgument(function, "stage", "raw, scaled, softcapped, biased, masked, weights or dropped",
                        "\"" + std::string(word) + "\"");
}

}  // namespace qkv::python
