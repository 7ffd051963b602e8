#include "mask/mask_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mask/node.h"

namespace qkv {
namespace {

using mask_detail::Call;
using mask_detail::MaskWord;

constexpr auto kAny = std::numeric_limits<std::int64_t>::min();

std::int64_t part(std::int64_t whole, std::int64_t parts) { return std::max<std::int64_t>(1, whole / parts); }

Mask make_causal(const Call& call) {
  call.require_values(0, 0);
  if (!call.has("offset")) return causal(call.align());
  if (call.is_array("offset")) return causal_offsets(call.integers("offset", kAny), call.align());
  return causal(call.align(), call.integer("offset", kAny));
}

Mask make_window(const Call& call) {
  const bool sides = call.has("left") || call.has("right");
  if (sides && call.values() > 0) call.fail("both a width and a side");
  call.require_values(sides ? 0 : 1, 1);
  if (!sides) return window(call.integer(0, 1), call.align());
  const auto side = [&](std::string_view name) {
    return call.has(name) ? std::optional(call.integer(name, 0)) : std::nullopt;
  };
  return window(side("left"), side("right"), call.align());
}

Mask make_documents(const Call& call) {
  call.require_values(1, SIZE_MAX);
  return documents(call.integers(0), call.align());
}

Mask make_keys(const Call& call) {
  call.require_values(1, SIZE_MAX);
  return key_lengths(call.integers(0));
}

Mask make_dilated(const Call& call) {
  call.require_values(2, 2);
  return dilated(call.integer(0, 1), call.integer(1, 1), call.align());
}

Mask make_global(const Call& call) {
  if (call.has("at") && call.values() > 0) call.fail("both a count and positions");
  call.require_values(call.has("at") ? 0 : 1, 1);
  if (call.has("at")) return global_tokens_at(call.integers("at", 0), call.align());
  return global_tokens(call.integer(0, 0), call.align());
}

Mask make_blocks(const Call& call) {
  call.require_values(2, 2);
  return block_sparse(call.integer(0, 1), call.flags(1));
}

Mask make_dense_mask(const Call& call) {
  call.require_values(1, 1);
  return dense(call.flags(0));
}

template <Mask (*make)()>
Mask make_plain(const Call& call) {
  call.require_values(0, 0);
  return make();
}

std::string sample_documents(const MaskShape& shape) {
  const std::int64_t first = shape.Tk / 2;
  const std::int64_t second = (shape.Tk - first) * 2 / 3;
  return fmt::format("documents({}, {}, {})", first, second, shape.Tk - first - second);
}

std::string sample_blocks(const MaskShape& shape) {
  const std::int64_t block = std::max<std::int64_t>(1, (std::max(shape.Tq, shape.Tk) + 3) / 4);
  std::string rows;
  for (std::int64_t row = 0; row * block < shape.Tq; ++row) {
    std::string row_text;
    for (std::int64_t column = 0; column * block < shape.Tk; ++column) {
      row_text.append(row_text.empty() ? "" : ", ").append((row + column) % 2 == 0 ? "1" : "0");
    }
    rows.append(rows.empty() ? "[" : ", [").append(row_text).append("]");
  }
  return fmt::format("blocks({}, [{}])", block, rows);
}

std::string sample_dense(const MaskShape& shape) {
  constexpr std::int64_t kMostWritten = 4096;
  if (shape.Tk > kMostWritten) return "dense([1])";
  std::string keys;
  for (std::int64_t j = 0; j < shape.Tk; ++j) keys.append(keys.empty() ? "" : ", ").append(j % 3 == 2 ? "0" : "1");
  return fmt::format("dense([{}])", keys);
}

std::string sample_strided(const MaskShape& shape) {
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(shape.Tk)));
  return fmt::format("strided({})", std::max<std::int64_t>(1, root));
}

const std::vector<MaskWord>& masks() {
  static const std::vector<std::string_view> kAligned{"top_left", "bottom_right"};
  static const std::vector<MaskWord> kWords{
      {{"all", "`all`", {}, {}},
       "every query sees every key",
       make_plain<all>,
       [](const MaskShape&) { return std::string("all"); }},
      {{"none", "`none`", {}, {}},
       "no query sees any key",
       make_plain<none>,
       [](const MaskShape&) { return std::string("none"); }},
      {{"causal", "`causal`, `causal(top_left)` or `causal(offset=n)`", {"offset"}, kAligned, {"causal_offsets"}},
       "a query sees the keys up to its own position",
       make_causal,
       [](const MaskShape&) { return std::string("causal"); }},
      {{"window", "`window(width)` or `window(left=n, right=n)`", {"left", "right"}, kAligned},
       "a query sees the keys nearer than `width`, or those between two bounds",
       make_window,
       [](const MaskShape& shape) { return fmt::format("window({})", part(shape.Tk, 8)); }},
      {{"prefix", "`prefix(length)`", {}, {}},
       "every query sees the first `length` keys",
       [](const Call& call) {
         call.require_values(1, 1);
         return prefix(call.integer(0, 0));
       },
       [](const MaskShape& shape) { return fmt::format("prefix({})", shape.Tk / 4); }},
      {{"documents", "`documents(length, …)`", {}, kAligned},
       "a query sees the keys of its own document; the lengths sum to the keys",
       make_documents,
       sample_documents},
      {{"keys", "`keys(length, …)`", {}, {}, {"key_lengths"}},
       "every query sees the first `length` keys of its batch entry; the rest is padding",
       make_keys,
       [](const MaskShape& shape) { return fmt::format("keys({})", shape.Tk - shape.Tk / 4); }},
      {{"strided", "`strided(stride)`", {}, kAligned},
       "a query sees every `stride`-th key, counted from itself",
       [](const Call& call) {
         call.require_values(1, 1);
         return strided(call.integer(0, 1), call.align());
       },
       sample_strided},
      {{"dilated", "`dilated(width, dilation)`", {}, kAligned},
       "a window of `width` keys to either side with gaps: every `dilation`-th key",
       make_dilated,
       [](const MaskShape& shape) { return fmt::format("dilated({}, 2)", part(shape.Tk, 16)); }},
      {{"global",
        "`global(count)` or `global(at=[position, …])`",
        {"at"},
        kAligned,
        {"global_tokens", "global_tokens_at"}},
       "the first `count` tokens, or those at the positions, see all and are seen by all",
       make_global,
       [](const MaskShape& shape) { return fmt::format("global({})", part(shape.Tk, 16)); }},
      {{"blocks", "`blocks(size, [[0 or 1, …], …])`", {}, {}, {"block_sparse"}},
       "the matrix in blocks of `size` x `size`, each kept or not",
       make_blocks,
       sample_blocks},
      {{"dense", "`dense([[0 or 1, …], …])`", {}, {}},
       "each pair by itself; the array broadcasts to [B, H, Tq, Tk]",
       make_dense_mask,
       sample_dense},
  };
  return kWords;
}

}  // namespace

const mask_detail::MaskWord* mask_detail::find_mask_word(std::string_view word) {
  const auto at = std::ranges::find_if(masks(), [&](const MaskWord& one) { return one.signature.word == word; });
  return at == masks().end() ? nullptr : &*at;
}

const mask_detail::MaskWord* mask_detail::mask_word_for(std::string_view function) {
  const auto at =
      std::ranges::find_if(masks(), [&](const MaskWord& one) { return one.signature.stands_for(function); });
  return at == masks().end() ? nullptr : &*at;
}

std::span<const Word> mask_words() {
  static const std::vector<Word> kShown = [] {
    std::vector<Word> shown;
    for (const MaskWord& one : masks()) shown.push_back({one.signature.word, one.signature.form, one.meaning});
    return shown;
  }();
  return kShown;
}

std::string mask_sample(std::string_view word, const MaskShape& shape) {
  const MaskWord* found = mask_detail::find_mask_word(word);
  if (found == nullptr) throw InvalidArgument("mask_sample", "word", "one of mask_words()", word);
  return found->sample(shape);
}

}  // namespace qkv
