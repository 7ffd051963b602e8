#include <fmt/format.h>

#include <algorithm>

#include "core/counted.h"
#include "core/listed.h"
#include "insight/classes.h"
#include "qkv/insight/report.h"

namespace qkv {
namespace {

template <class Number>
std::string or_dash(const std::optional<Number>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string head_name(const HeadStatistics& head) { return fmt::format("{}.{}", head.layer, head.head); }

std::string statistics_table(const SiteHeads& site) {
  std::string text = fmt::format("{:<5} {:<11}  {:>5}  {:>7}  {:>5}  {:>5}  {:>7}  {:>8}  {:>5}  {:>5}\n", "head",
                                 "class", "by", "entropy", "even", "dist", "removal", "gradient", "sim", "like");
  for (const HeadStatistics& head : site.all) {
    const std::string like = head.nearest ? fmt::format("{}.{}", head.layer, *head.nearest) : "-";
    text += fmt::format("{:<5} {:<11}  {:>5.2f}  {:>7.2f}  {:>5.2f}  {:>5}  {:>7}  {:>8}  {:>5}  {:>5}\n",
                        head_name(head), head.shown.word, head.shown.weight, head.entropy, head.evenness,
                        or_dash(head.distance, "{:.1f}"), or_dash(head.removal, "{:+.3f}"),
                        or_dash(head.gradient, "{:.4f}"), or_dash(head.similarity, "{:+.2f}"), like);
  }
  return text;
}

std::string shares_table(const SiteHeads& site) {
  const std::vector<std::size_t> patterns = insight::patterns_of(site);
  if (patterns.empty()) return {};
  const bool has_repeats = site.all.front().repeat_induction.has_value();
  std::string text = fmt::format("\n{:<6}", "head");
  for (const std::size_t p : patterns) text += fmt::format(" {:>7}", text_patterns()[p].column);
  text += has_repeats ? fmt::format(" {:>7}\n", "repeats") : "\n";
  for (const HeadStatistics& head : site.all) {
    text += fmt::format("{:<6}", head_name(head));
    for (const std::size_t p : patterns) {
      text += fmt::format(" {:>7}", head.shares[p].rows > 0 ? fmt::format("{:.2f}", head.shares[p].mean()) : "-");
    }
    text += has_repeats ? fmt::format(" {:>7.2f}\n", *head.repeat_induction) : "\n";
  }
  return text;
}

std::string classes_line(const SiteHeads& site) {
  return core::joined(insight::classes_of(site), [&](const std::string& word) {
    return fmt::format("{} {}", insight::heads_of_class(site, word), word);
  });
}

std::string importance_line(const HeadAnalysis& analysis) {
  if (!analysis.loss) return fmt::format("No importance: {}.\n", analysis.no_importance);
  const std::string gaps = analysis.masked > 0 ? " with " + core::counted(analysis.masked, "token") + " masked" : "";
  return fmt::format("Loss {:.4f} nats over {}{}; removal is its rise without the head.\n", *analysis.loss,
                     core::counted(analysis.importance_texts, "text"), gaps);
}

std::string patterns_table(const HeadAnalysis& analysis) {
  if (analysis.patterns.empty()) return {};
  std::string text =
      "\nPatterns of its task: the best head of each, its mean weight there, and how often it is its largest\n";
  for (const PatternHead& one : analysis.patterns) {
    text += fmt::format("{:<19} {:<6} {:<6} {:.2f}  {:>3.0f} %  {}\n", one.pattern, name_of(one.site),
                        fmt::format("{}.{}", one.layer, one.head), one.weight, 100 * one.largest, one.description);
  }
  return text;
}

std::string field(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : ""; }

}  // namespace

std::string heads_table(const HeadAnalysis& analysis, const std::string& model, const std::string& texts) {
  std::string text = fmt::format("Heads of {} over {} ({})\n{}", model, texts, core::counted(analysis.tokens, "token"),
                                 importance_line(analysis));
  text += patterns_table(analysis);
  for (const SiteHeads& site : analysis.sites) {
    text += fmt::format("\n{}: {} of {}\n{}\n\n", name_of(site.site), core::counted(site.layers, "layer"),
                        core::counted(site.heads, "head"), classes_line(site));
    text += statistics_table(site) + shares_table(site);
  }
  return text;
}

std::string heads_csv(const HeadAnalysis& analysis) {
  std::string text = "site,layer,head,class,weight,rows,entropy,evenness,distance";
  for (const TextPattern& pattern : text_patterns()) text += fmt::format(",{}", pattern.word);
  text += ",repeat_induction,repeat_duplicate,similarity,removal,gradient,nearest,nearest_distance\n";
  for (const SiteHeads& site : analysis.sites) {
    for (const HeadStatistics& head : site.all) {
      text +=
          fmt::format("{},{},{},{},{:.6g},{},{:.6g},{:.6g},{}", name_of(site.site), head.layer, head.head,
                      head.shown.word, head.shown.weight, head.rows, head.entropy, head.evenness, field(head.distance));
      for (const PatternShare& share : head.shares) {
        text += "," + field(share.rows > 0 ? std::optional(share.mean()) : std::nullopt);
      }
      text += fmt::format(",{},{},{},{},{},{},{}\n", field(head.repeat_induction), field(head.repeat_duplicate),
                          field(head.similarity), field(head.removal), field(head.gradient),
                          head.nearest ? fmt::format("{}", *head.nearest) : "",
                          field(head.nearest ? std::optional(head.nearest_distance) : std::nullopt));
    }
  }
  return text;
}

}  // namespace qkv
