#include "mask/random_mask.h"

#include <algorithm>
#include <cstdlib>

namespace qkv::mask_test {
namespace {

// The place of a query among the keys, written out once more.
std::int64_t place_of(Align align, std::int64_t i, const MaskShape& shape) {
  return align == Align::top_left ? i : shape.Tk - shape.Tq + i;
}

std::vector<std::int64_t> any_lengths(std::int64_t count, std::int64_t most) {
  return *rc::gen::container<std::vector<std::int64_t>>(static_cast<std::size_t>(count),
                                                        rc::gen::inRange<std::int64_t>(0, most + 1));
}

RandomMask any_causal(const MaskShape& shape) {
  const Align align = any_align();
  if (*rc::gen::arbitrary<bool>()) {
    const std::int64_t offset = any_in(-5, 5);
    return {causal(align, offset), [=](const Place& at) { return at.j <= place_of(align, at.i, shape) + offset; }};
  }
  const auto offsets = any_lengths(shape.B, 4);
  return {causal_offsets(offsets, align), [=](const Place& at) {
            return at.j <= place_of(align, at.i, shape) + offsets[static_cast<std::size_t>(at.b)];
          }};
}

RandomMask any_window(const MaskShape& shape) {
  const Align align = any_align();
  const std::int64_t left = any_in(0, 30);
  const std::int64_t right = any_in(0, 30);
  const auto near = [=](const Place& at, std::int64_t before, std::int64_t after) {
    const std::int64_t ahead = at.j - place_of(align, at.i, shape);
    return ahead >= -before && ahead <= after;
  };
  switch (any_in(0, 3)) {
    case 0:
      return {window(left + 1, align), [=](const Place& at) { return near(at, left, left); }};
    case 1:
      return {window(left, std::nullopt, align), [=](const Place& at) { return near(at, left, 1000); }};
    case 2:
      return {window(std::nullopt, right, align), [=](const Place& at) { return near(at, 1000, right); }};
    default:
      return {window(left, right, align), [=](const Place& at) { return near(at, left, right); }};
  }
}

RandomMask any_documents(const MaskShape& shape) {
  const Align align = any_align();
  std::vector<std::int64_t> owner;  // the document of each key
  std::vector<std::int64_t> lengths;
  while (lengths.empty() || static_cast<std::int64_t>(owner.size()) < shape.Tk) {
    const std::int64_t rest = shape.Tk - static_cast<std::int64_t>(owner.size());
    const std::int64_t length = lengths.size() == 5 ? rest : any_in(0, rest);
    owner.insert(owner.end(), static_cast<std::size_t>(length), static_cast<std::int64_t>(lengths.size()));
    lengths.push_back(length);
  }
  return {documents(lengths, align), [=](const Place& at) {
            const std::int64_t p = place_of(align, at.i, shape);
            if (p < 0 || p >= shape.Tk) return false;
            return owner[static_cast<std::size_t>(p)] == owner[static_cast<std::size_t>(at.j)];
          }};
}

RandomMask any_lengths_mask(const MaskShape& shape) {
  if (*rc::gen::arbitrary<bool>()) {
    const std::int64_t length = any_in(0, shape.Tk + 5);
    return {prefix(length), [=](const Place& at) { return at.j < length; }};
  }
  const auto lengths = any_lengths(shape.B, shape.Tk);
  return {key_lengths(lengths), [=](const Place& at) { return at.j < lengths[static_cast<std::size_t>(at.b)]; }};
}

RandomMask any_steps(const MaskShape& shape) {
  const Align align = any_align();
  const std::int64_t step = any_in(1, 9);
  const std::int64_t width = any_in(1, 9);
  const auto distance = [=](const Place& at) { return std::abs(place_of(align, at.i, shape) - at.j); };
  if (*rc::gen::arbitrary<bool>()) {
    return {strided(step, align), [=](const Place& at) { return distance(at) % step == 0; }};
  }
  return {dilated(width, step, align),
          [=](const Place& at) { return distance(at) % step == 0 && distance(at) / step < width; }};
}

RandomMask any_global(const MaskShape& shape) {
  const Align align = any_align();
  std::vector<std::int64_t> tokens = any_lengths(any_in(0, 5), 30);
  const bool first = *rc::gen::arbitrary<bool>();
  const std::int64_t count = any_in(0, 10);
  if (first) {
    tokens.clear();
    for (std::int64_t token = 0; token < count; ++token) tokens.push_back(token);
  }
  const Rule rule = [=](const Place& at) {
    return std::ranges::count(tokens, at.j) + std::ranges::count(tokens, place_of(align, at.i, shape)) > 0;
  };
  return {first ? global_tokens(count, align) : global_tokens_at(tokens, align), rule};
}

Tensor any_flags(const Shape& shape) {
  Tensor flags(DType::b8, shape);
  for (bool& flag : flags.values<bool>()) flag = *rc::gen::arbitrary<bool>();
  return flags;
}

RandomMask any_array(const MaskShape& shape) {
  if (*rc::gen::arbitrary<bool>()) {
    const Tensor flags = any_flags({one_or(shape.B), one_or(shape.H), one_or(shape.Tq), one_or(shape.Tk)});
    return {dense(flags), [=](const Place& at) {
              return flags.at({at.b % flags.dim(0), at.h % flags.dim(1), at.i % flags.dim(2), at.j % flags.dim(3)}) !=
                     0;
            }};
  }
  const std::int64_t block = any_in(1, 40);
  const auto blocks = [=](std::int64_t extent) { return (extent + block - 1) / block; };
  const Tensor flags = any_flags({one_or(shape.H), blocks(shape.Tq), blocks(shape.Tk)});
  return {block_sparse(block, flags),
          [=](const Place& at) { return flags.at({at.h % flags.dim(0), at.i / block, at.j / block}) != 0; }};
}

RandomMask any_primitive(const MaskShape& shape) {
  switch (any_in(0, 9)) {
    case 0:
      return {all(), [](const Place&) { return true; }};
    case 1:
      return {none(), [](const Place&) { return false; }};
    case 2:
      return any_causal(shape);
    case 3:
      return any_window(shape);
    case 4:
      return any_documents(shape);
    case 5:
      return any_lengths_mask(shape);
    case 6:
      return any_steps(shape);
    case 7:
      return any_global(shape);
    case 8:
      return any_array(shape);
    default: {
      const std::int64_t odd = any_in(2, 7);
      const Rule rule = [=](const Place& at) { return (at.i * 3 + at.j + at.h + at.b) % odd != 0; };
      return {predicate("odd", [=](const Place& at, const MaskShape&) { return rule(at); }), rule};
    }
  }
}

}  // namespace

RandomMask any_mask(const MaskShape& shape, int depth) {
  const std::int64_t choice = depth == 0 ? 0 : any_in(0, 3);
  if (choice == 0) return any_primitive(shape);
  const RandomMask a = any_mask(shape, depth - 1);
  if (choice == 1) return {!a.mask, [=](const Place& at) { return !a.rule(at); }};
  const RandomMask b = any_mask(shape, depth - 1);
  if (choice == 2) return {a.mask & b.mask, [=](const Place& at) { return a.rule(at) && b.rule(at); }};
  return {a.mask | b.mask, [=](const Place& at) { return a.rule(at) || b.rule(at); }};
}

}  // namespace qkv::mask_test
