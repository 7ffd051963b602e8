#include "qkv/insight/interventions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/listed.h"
#include "core/nearest_word.h"
#include "core/numbered.h"
#include "core/said_of.h"
#include "insight/head_plans.h"
#include "insight/removed_heads.h"
#include "insight/text_batch.h"
#include "qkv/autograd/arithmetic.h"

namespace qkv {
namespace {

constexpr const char* kIntervener = "Intervener";
constexpr const char* kDivisor = ".divisor";

[[noreturn]] void refuse_change(const std::string& kind, const std::string& expected, const std::string& got) {
  throw InvalidArgument(kIntervener, kind, expected, got);
}

std::size_t layer_of(const SetNumber& number) { return static_cast<std::size_t>(*number.at.layer); }

// The name of the value in a trace; `rotated`: where the model rotates queries and keys.
std::string_view leaf_of(const SetNumber& number, bool rotated) {
  switch (number.value) {
    case HeadValue::q:
      return rotated ? "q_rotated" : "q";
    case HeadValue::k:
      return rotated ? "k_rotated" : "k";
    case HeadValue::v:
      return "v";
    case HeadValue::out:
      break;
  }
  return "heads";
}

// Of "the keys that a query sees".
std::string seen_keys(const std::vector<double>& scores) {
  std::vector<std::string> all;
  const auto sees = [&](std::size_t j) { return scores[j] != -std::numeric_limits<double>::infinity(); };
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (!sees(j)) continue;
    std::size_t end = j;
    while (end + 1 < scores.size() && sees(end + 1)) ++end;
    all.push_back(end > j ? fmt::format("{} to {}", j, end) : fmt::format("{}", j));
    j = end;
  }
  return all.empty() ? "none" : core::joined(all);
}

}  // namespace

struct Intervener::Plans {
  insight::HeadWeightsPlans heads;
};

Intervener::Intervener(const Model& model, const HeadText& text, const HeadText* other, KeptOfTexts kept)
    : model_(model),
      text_(&text),
      other_(other),
      wanted_(std::move(kept)),
      unchanged_(std::vector<std::string>{}),
      other_run_(std::vector<std::string>{}) {}

SiteScope Intervener::scope_of(const char* kind, const HeadsAt& at) const {
  const std::vector<insight::OwnSite> sites = insight::sites_of(model_);
  const auto own = std::ranges::find(sites, at.site, &insight::OwnSite::site);
  if (own == sites.end()) {
    refuse_change(kind, "a site that the model has: " + insight::names_of_sites(sites), std::string(name_of(at.site)));
  }
  if (at.layer && *at.layer >= own->scope.layers) {
    refuse_change(kind, core::numbered("layer", own->scope.layers), fmt::format("{}", *at.layer));
  }
  return own->scope;
}

void Intervener::turn_to(const HeadText& text) {
  text_ = &text;
  ran_.text.clear();
}

void Intervener::prepare(std::span<const Intervention> all) {
  std::vector<std::string>& own = wanted_.text;
  std::vector<std::string>& others = wanted_.other;
  const auto need = [](std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  const auto need_attention = [&](std::vector<std::string>& names, const SiteScope& scope) {
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(scope.layers); ++layer) need(names, scope.name(layer));
  };
  for (const Intervention& each : all) {
    if (reads_other_text(each) && other_ == nullptr) {
      refuse_change("from_text", "another text for \"" + to_string(each) + "\"", "none");
    }
    if (const auto* cut = std::get_if<CutEdge>(&each)) need_attention(own, scope_of("cut", cut->at));
    if (const auto* pattern = std::get_if<ReplacedPattern>(&each)) {
      need_attention(own, scope_of("pattern", pattern->at));
      if (pattern->source == PatternSource::other) need_attention(others, scope_of("pattern", pattern->at));
    }
    if (const auto* patch = std::get_if<PatchedValue>(&each)) need(others, patch->name);
    if (const auto* number = std::get_if<SetNumber>(&each)) {
      const SiteScope scope = scope_of("set", number->at);
      need(own, scope.name(layer_of(*number)));
      need(own, scope.name(layer_of(*number), leaf_of(*number, true)));
    }
    if (std::holds_alternative<FrozenNorms>(each)) need(own, std::string("*") + kDivisor);
  }
  const auto run = [&](std::string_view argument, const HeadText& text, const auto& names, Trace& into) {
    into = Trace(names);
    core::said_of(kIntervener, argument, [&] { insight::run_text(model_, text, into); });
  };
  if (own != ran_.text) {
    run("text", *text_, own, unchanged_);
    ran_.text = own;
  }
  if (std::ranges::any_of(all, reads_other_text)) require_alike();
  if (others == ran_.other) return;
  run("from_text", *other_, others, other_run_);
  ran_.other = others;
}

void Intervener::require_alike() const {
  const auto sizes = [](const HeadText& text) {
    const std::string source = text.source.empty() ? "" : fmt::format(" and a source of {}", text.source.size());
    return fmt::format("{} tokens{}", text.ids.size(), source);
  };
  if (sizes(*text_) == sizes(*other_)) return;
  refuse_change("from_text", fmt::format("a text of {}, as the one that is changed", sizes(*text_)), sizes(*other_));
}

void Intervener::plan(const ReplacedPattern& pattern, Plans& plans) const {
  const SiteScope scope = scope_of("pattern", pattern.at);
  const bool needs_self = pattern.source == PatternSource::previous || pattern.source == PatternSource::self;
  if (needs_self && pattern.at.site == AttentionSite::cross) {
    refuse_change("pattern", "uniform, text or the number of a key across, where a query has no key of its own",
                  to_string(pattern).substr(std::string_view("pattern ").size()));
  }
  for (std::int64_t layer = 0; layer < scope.layers; ++layer) {
    if (pattern.at.layer && *pattern.at.layer != layer) continue;
    const std::string name = scope.name(static_cast<std::size_t>(layer));
    const Trace::Attention& call = unchanged_.attention(name);
    const std::int64_t heads = call.q.dim(1);
    if (pattern.at.head && *pattern.at.head >= heads) {
      refuse_change("pattern", core::numbered("head", heads), fmt::format("{}", *pattern.at.head));
    }
    if (pattern.source == PatternSource::key && pattern.key >= call.k.dim(2)) {
      refuse_change("pattern", core::numbered("key", call.k.dim(2)), fmt::format("{}", pattern.key));
    }
    for (std::int64_t h = 0; h < heads; ++h) {
      if (pattern.at.head && *pattern.at.head != h) continue;
      std::optional<ReplacedPattern>& own = plans.heads[{name, h}].pattern;
      if (own) refuse_change("pattern", fmt::format("one pattern for head {}.{}", layer, h), "two");
      own = pattern;
    }
  }
}

void Intervener::plan(const CutEdge& cut, Plans& plans) const {
  const SiteScope scope = scope_of("cut", cut.at);
  bool is_seen = false;
  std::string keys;
  for (std::int64_t layer = 0; layer < scope.layers; ++layer) {
    if (cut.at.layer && *cut.at.layer != layer) continue;
    const std::string name = scope.name(static_cast<std::size_t>(layer));
    const Trace::Attention& call = unchanged_.attention(name);
    const std::int64_t heads = call.q.dim(1);
    if (cut.at.head && *cut.at.head >= heads) {
      refuse_change("cut", core::numbered("head", heads), fmt::format("{}", *cut.at.head));
    }
    if (cut.query >= call.q.dim(2)) {
      refuse_change("cut", core::numbered("query", call.q.dim(2)), fmt::format("{}", cut.query));
    }
    if (cut.key >= call.k.dim(2)) {
      refuse_change("cut", core::numbered("key", call.k.dim(2)), fmt::format("{}", cut.key));
    }
    const Probe probe = unchanged_.probe(name);
    const std::vector<double> row =
        Tensor(probe.tile({.i_begin = cut.query, .i_end = cut.query + 1, .j_end = call.k.dim(2)}, Stage::masked))
            .to_vector();
    is_seen = is_seen || row[static_cast<std::size_t>(cut.key)] != -std::numeric_limits<double>::infinity();
    keys = seen_keys(row);
    for (std::int64_t h = 0; h < heads; ++h) {
      if (!cut.at.head || *cut.at.head == h) plans.heads[{name, h}].cuts.push_back(cut);
    }
  }
  if (!is_seen) {
    refuse_change("cut", fmt::format("a key that query {} sees: {}", cut.query, keys), fmt::format("{}", cut.key));
  }
}

void Intervener::add_plans(const Plans& plans, Trace& trace) const {
  for (const auto& [place, plan] : plans.heads) {
    const auto& [name, h] = place;
    const Trace::Attention& call = unchanged_.attention(name);
    const auto matrix_of = [&, head = h](const Trace& run, Stage stage) {
      return run.probe(place.first).tile({.h = head, .i_end = call.q.dim(2), .j_end = call.k.dim(2)}, stage);
    };
    const Tensor scores = matrix_of(unchanged_, Stage::masked);
    const bool needs_other = plan.pattern && plan.pattern->source == PatternSource::other;
    const Tensor others = needs_other ? matrix_of(other_run_, Stage::weights) : Tensor();
    insight::add_head_plan(name, h, plan, scores, needs_other ? others.view() : TensorView(), trace);
  }
}

void Intervener::add_removal(const RemovedHead& removed, Trace& trace) const {
  const SiteScope scope = scope_of("remove", removed.at);
  for (std::int64_t layer = 0; layer < scope.layers; ++layer) {
    if (removed.at.layer && *removed.at.layer != layer) continue;
    trace.edit(scope.name(static_cast<std::size_t>(layer), "heads"), [head = removed.at.head](const Variable& heads) {
      if (!head) return heads * 0.0;
      if (*head >= heads.dim(1))
        refuse_change("remove", core::numbered("head", heads.dim(1)), fmt::format("{}", *head));
      return insight::without_heads(heads, *head);
    });
  }
}

void Intervener::add_patch(const PatchedValue& patch, Trace& trace) const {
  const std::vector<std::string> known = other_run_.names();
  if (std::ranges::find(known, patch.name) == known.end()) {
    Trace all;
    insight::run_text(model_, *other_, all);
    const std::vector<std::string> names = all.names();
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto nearest = core::nearest_word(patch.name, views);
    const std::string hint = nearest ? fmt::format("; did you mean {}?", *nearest) : "";
    refuse_change("patch", "a value of the pass (docs/trace.md)", fmt::format("\"{}\"{}", patch.name, hint));
  }
  const Variable other(other_run_[patch.name]);
  std::vector<std::pair<int, std::int64_t>> places;
  const auto add = [&](std::optional<std::int64_t> index, int axis, std::string_view what) {
    if (!index) return;
    if (*index >= other.dim(axis)) {
      refuse_change("patch", core::numbered(fmt::format("{} of {}", what, patch.name), other.dim(axis)),
                    fmt::format("{}", *index));
    }
    places.emplace_back(axis, *index);
  };
  if (patch.head && other.rank() != 4) {
    refuse_change("patch",
                  "a value that has heads, such as " + model_.scope_of(AttentionSite::tokens)->name(0, "heads"),
                  fmt::format("{}, {}", patch.name, other.shape().to_string()));
  }
  if (patch.place && other.rank() < 3) {
    refuse_change("patch", "a value that has places", fmt::format("{}, {}", patch.name, other.shape().to_string()));
  }
  add(patch.head, 1, "head");
  add(patch.place, other.rank() - 2, "place");
  trace.edit(patch.name, [other, places](const Variable& value) { return insight::spliced(value, other, places); });
}

void Intervener::add_number(const SetNumber& number, Trace& trace) const {
  const SiteScope scope = scope_of("set", number.at);
  const Trace::Attention& call = unchanged_.attention(scope.name(layer_of(number)));
  const Variable& whole = number.value == HeadValue::q   ? call.q
                          : number.value == HeadValue::k ? call.k
                          : number.value == HeadValue::v ? call.v
                                                         : call.out;
  const auto require = [](std::string_view what, std::int64_t at, std::int64_t count) {
    if (at >= count) refuse_change("set", core::numbered(what, count), fmt::format("{}", at));
  };
  require("head", *number.at.head, call.q.dim(1));
  require("place", number.place, whole.dim(2));
  require("column", number.column, whole.dim(3));
  const std::int64_t head = *number.at.head / (call.q.dim(1) / whole.dim(1));  // several may share a key and value
  Tensor set(whole.dtype(), whole.shape());
  set.set({0, head, number.place, number.column}, number.to);
  const std::string rotated = scope.name(layer_of(number), leaf_of(number, true));
  trace.edit(unchanged_.contains(rotated) ? rotated : scope.name(layer_of(number), leaf_of(number, false)),
             [other = Variable(set),
              place = std::vector<std::pair<int, std::int64_t>>{{1, head}, {2, number.place}, {3, number.column}}](
                 const Variable& value) { return insight::spliced(value, other, place); });
}

void Intervener::add_held_norms(Trace& trace) const {
  for (const std::string& name : unchanged_.names()) {
    if (!name.ends_with(kDivisor)) continue;
    trace.edit(name, [held = Variable(unchanged_[name])](const Variable& /*divisor*/) { return held; });
  }
}

void Intervener::add(std::span<const Intervention> all, Trace& trace) {
  prepare(all);
  Plans plans;
  for (const Intervention& each : all) {
    if (const auto* removed = std::get_if<RemovedHead>(&each)) add_removal(*removed, trace);
    if (const auto* pattern = std::get_if<ReplacedPattern>(&each)) plan(*pattern, plans);
    if (const auto* cut = std::get_if<CutEdge>(&each)) plan(*cut, plans);
    if (const auto* patch = std::get_if<PatchedValue>(&each)) add_patch(*patch, trace);
    if (const auto* number = std::get_if<SetNumber>(&each)) add_number(*number, trace);
    if (std::holds_alternative<FrozenNorms>(each)) add_held_norms(trace);
  }
  add_plans(plans, trace);
}

}  // namespace qkv
