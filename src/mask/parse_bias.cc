#include <fmt/format.h>

#include <algorithm>

#include "core/nearest_word.h"
#include "mask/call.h"
#include "mask/language_word.h"
#include "qkv/bias.h"

namespace qkv {
namespace {

using mask_detail::Call;
using mask_detail::Scanner;
using mask_detail::Signature;
using mask_detail::Token;
using mask_detail::TokenKind;

struct BiasWord {
  Signature signature;
  std::string_view meaning;
  Bias (*make)(const Call& call);
};

Bias make_zero(const Call& call) {
  call.require_values(0, 0);
  return {};
}

Bias make_alibi(const Call& call) {
  return call.values() == 0 ? alibi(call.align()) : alibi(call.numbers(), call.align());
}

Bias make_t5(const Call& call) {
  call.require_values(0, 0);
  if (!call.has("table")) call.fail("no table");
  if (call.flag("bidirectional") && call.flag("unidirectional")) call.fail("both directions");
  const Tensor table = call.array("table");
  T5Buckets buckets{.buckets = table.dim(0), .bidirectional = !call.flag("unidirectional")};
  if (call.has("max_distance")) buckets.max_distance = call.integer("max_distance", 1);
  return t5_bias(table, buckets, call.align());
}

Bias make_dense_bias(const Call& call) {
  call.require_values(1, 1);
  return dense_bias(call.array(0));
}

const std::vector<BiasWord>& biases() {
  static const std::vector<std::string_view> kAligned{"top_left", "bottom_right"};
  static const std::vector<BiasWord> kWords{
      {{"zero", "`zero`", {}, {}}, "nothing is added", make_zero},
      {{"alibi", "`alibi` or `alibi(slope, …)`", {}, kAligned},
       "minus a head's slope times the distance between query and key",
       make_alibi},
      {{"t5",
        "`t5(table=[[number, …], …], max_distance=n, bidirectional)`",
        {"table", "max_distance"},
        {"bidirectional", "unidirectional", "top_left", "bottom_right"},
        {"t5_bias"}},
       "a learned number for each bucket of distances and each head",
       make_t5},
      {{"dense", "`dense([[number, …], …])`", {}, {}, {"dense_bias"}},
       "each pair by itself; the array broadcasts to [B, H, Tq, Tk]",
       make_dense_bias},
  };
  return kWords;
}

std::string hint(std::string_view typed) {
  std::vector<std::string_view> known;
  for (const BiasWord& word : biases()) known.push_back(word.signature.word);
  const auto nearest = core::nearest_word(typed, known);
  return nearest ? fmt::format("; did you mean `{}`?", *nearest) : "";
}

Bias term(Scanner& scanner) {
  constexpr std::string_view kBias = "a bias (alibi, t5, dense, …)";
  const Token start = scanner.peek();
  if (start.kind != TokenKind::word) scanner.fail(start, kBias);
  const auto word =
      std::ranges::find_if(biases(), [&](const BiasWord& one) { return one.signature.word == start.text; });
  if (word == biases().end()) scanner.fail(start, kBias, hint(start.text));
  scanner.take();
  const Call call(scanner, start, word->signature);
  try {
    return word->make(call);
  } catch (const MaskSyntaxError&) {
    throw;
  } catch (const InvalidArgument& error) {
    scanner.fail_with(
        start, word->signature.form,
        fmt::format("values that do not fit: {}: {}: {}", word->signature.word, error.argument(), error.fault()));
  }
}

}  // namespace

std::string_view mask_detail::bias_word_for(std::string_view function) {
  const auto at =
      std::ranges::find_if(biases(), [&](const BiasWord& one) { return one.signature.stands_for(function); });
  return at == biases().end() ? std::string_view{} : at->signature.word;
}

Bias parse_bias(std::string_view text) {
  Scanner scanner("parse_bias", text);
  std::vector<Bias> terms;
  do {
    terms.push_back(term(scanner));
  } while (scanner.accept("+"));
  if (scanner.peek().kind != TokenKind::end) scanner.fail(scanner.peek(), "`+` or the end of the text");
  return sum(terms);
}

std::span<const Word> bias_words() {
  static const std::vector<Word> kShown = [] {
    std::vector<Word> shown;
    for (const BiasWord& one : biases()) shown.push_back({one.signature.word, one.signature.form, one.meaning});
    return shown;
  }();
  return kShown;
}

}  // namespace qkv
