#include <fmt/format.h>

#include <algorithm>

#include "qkv/insight/heads.h"

namespace qkv {
namespace {

constexpr double kNarrower = 0.05;  // that a broader pattern has to have more

struct Candidate {
  std::size_t pattern = 0;
  double weight = 0;
  bool of_repeats = false;
};

std::vector<Candidate> candidates_of(const HeadStatistics& head) {
  static const std::size_t kInduction = text_pattern_named("induction");
  std::vector<Candidate> all;
  for (std::size_t p = 0; p < head.shares.size(); ++p) {
    const PatternShare& share = head.shares[p];
    const bool tells = share.rows >= kFewestRows && share.mean() >= 2 * share.even();
    Candidate candidate{.pattern = p, .weight = tells ? share.mean() : 0};
    if (p == kInduction && head.repeat_induction.value_or(0) > candidate.weight) {
      candidate.weight = *head.repeat_induction;
      candidate.of_repeats = true;
    }
    all.push_back(candidate);
  }
  return all;
}

}  // namespace

HeadClass class_of(const HeadStatistics& head) {
  if (head.rows < kFewestRows) return {.word = "-", .weight = 0, .evidence = "too few rows"};
  const std::vector<Candidate> all = candidates_of(head);
  const auto largest = std::ranges::max_element(all, {}, &Candidate::weight);
  if (largest == all.end()) return {.word = "-", .weight = 0, .evidence = "no patterns"};
  const auto chosen = std::ranges::find_if(
      all, [&](const Candidate& one) { return one.weight >= std::max(kShowsPattern, largest->weight - kNarrower); });
  const auto said = [](const Candidate& one) {
    return fmt::format("{:.2f} on {}{}", one.weight, text_patterns()[one.pattern].phrase,
                       one.of_repeats ? ", where random tokens come twice" : "");
  };
  if (chosen != all.end()) {
    return {.word = std::string(text_patterns()[chosen->pattern].word),
            .weight = chosen->weight,
            .evidence = said(*chosen)};
  }
  if (head.evenness >= kIsBroad) {
    return {.word = "broad",
            .weight = head.evenness,
            .evidence = fmt::format("{:.2f} of the largest entropy", head.evenness)};
  }
  if (largest->weight == 0) return {.word = "mixed", .weight = 0, .evidence = "no pattern stands out"};
  return {.word = "mixed", .weight = largest->weight, .evidence = "at most " + said(*largest)};
}

}  // namespace qkv
