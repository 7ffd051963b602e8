#include <fmt/format.h>

#include <algorithm>

#include "core/counted.h"
#include "qkv/insight/syntax.h"

namespace qkv {
namespace {

double share_of(std::int64_t right, std::int64_t pairs) {
  return pairs > 0 ? static_cast<double>(right) / static_cast<double>(pairs) : 0;
}

// The best head as a name; "-" where no head finds any pair.
std::string best_head_of(const SyntaxAnalysis& analysis, const RelationAccuracy& relation) {
  if (!relation.best) return "-";
  return fmt::format("{}.{}", *relation.best / analysis.heads, *relation.best % analysis.heads);
}

double best_share(const RelationAccuracy& relation) {
  return relation.best ? share_of(relation.right[static_cast<std::size_t>(*relation.best)], relation.pairs) : 0;
}

std::string offset_of(const RelationAccuracy& relation) {
  return relation.offset ? fmt::format("{:+}", *relation.offset) : "-";
}

}  // namespace

std::string syntax_table(const SyntaxAnalysis& analysis, const std::string& model, std::int64_t fewest) {
  std::string text = fmt::format("Grammar in the heads of {}: {}, {}\n\n", model,
                                 core::counted(analysis.sentences, "sentence"), core::counted(analysis.words, "word"));
  const auto is_shown = [fewest](const RelationAccuracy& relation) { return relation.pairs >= fewest; };
  if (std::ranges::none_of(analysis.relations, is_shown)) {
    return text + fmt::format("No relation has {} pairs or more; CSV and JSON have all {}.\n", fewest,
                              analysis.relations.size());
  }
  text += fmt::format("{:<12} {:<13} {:>6}  {:>6}  {:>8}  {:>6}  {:>8}\n", "relation", "direction", "pairs", "head",
                      "accuracy", "offset", "accuracy");
  for (const RelationAccuracy& relation : analysis.relations) {
    if (!is_shown(relation)) continue;
    text += fmt::format("{:<12} {:<13} {:>6}  {:>6}  {:>8.2f}  {:>6}  {:>8.2f}\n", relation.label,
                        name_of(relation.direction), relation.pairs, best_head_of(analysis, relation),
                        best_share(relation), offset_of(relation), share_of(relation.offset_right, relation.pairs));
  }
  text += "\nhead: the best of all; offset: the best guess at a fixed distance.";
  return text + (analysis.looks_back ? " A decoder sees earlier words alone.\n" : "\n");
}

std::string syntax_csv(const SyntaxAnalysis& analysis) {
  std::string text = "relation,direction,pairs,layer,head,accuracy,offset,offset_accuracy\n";
  for (const RelationAccuracy& relation : analysis.relations) {
    for (std::size_t n = 0; n < relation.right.size(); ++n) {
      const auto head = static_cast<std::int64_t>(n);
      text += fmt::format(
          "{},{},{},{},{},{:.6g},{},{:.6g}\n", relation.label, name_of(relation.direction), relation.pairs,
          head / analysis.heads, head % analysis.heads, share_of(relation.right[n], relation.pairs),
          relation.offset ? fmt::format("{}", *relation.offset) : "", share_of(relation.offset_right, relation.pairs));
    }
  }
  return text;
}

}  // namespace qkv
