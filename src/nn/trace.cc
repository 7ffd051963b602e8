#include "qkv/nn/trace.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/listed.h"
#include "nn/trace_record.h"

namespace qkv {
namespace trace_detail {
namespace {

constexpr std::array<Stage, kStages> kAll = {Stage::raw,    Stage::scaled,  Stage::softcapped, Stage::biased,
                                             Stage::masked, Stage::weights, Stage::dropped};

}  // namespace

std::string stage_name(std::string_view attention, Stage stage) {
  return attention.empty() ? std::string(name_of(stage)) : std::string(attention) + "." + std::string(name_of(stage));
}

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::optional<Stage> stage_named(std::string_view word) {
  const auto found = std::ranges::find(kAll, word, [](Stage stage) { return name_of(stage); });
  return found == kAll.end() ? std::nullopt : std::optional(*found);
}

bool Record::wants(std::string_view name) const {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return matches(pattern, name); });
}

bool Record::uses(std::string_view name) const {
  const auto edits_it = [&](const ValueEdit& edit) { return matches(edit.pattern, name); };
  return wants(name) || std::ranges::any_of(edits, edits_it) || std::ranges::any_of(gradient_edits, edits_it);
}

bool Record::wants_attention(std::string_view name) const {
  const auto is_wanted = [&](Stage stage) { return wants(stage_name(name, stage)); };
  return wants(name) || std::ranges::any_of(kAll, is_wanted);
}

bool Record::edits_heads(std::string_view attention) {
  bool any = false;
  for (HeadsEdit& edit : head_edits) {
    if (!edit.means(attention)) continue;
    edit.met = any = true;
  }
  return any;
}

void Record::clear() {
  kept = {};
  attentions = {};
  for (auto* all : {&edits, &gradient_edits}) {
    for (ValueEdit& edit : *all) edit.met = false;
  }
  for (HeadsEdit& edit : head_edits) edit.met = false;
}

void Record::require_met() const {
  const auto require = [](const auto& all) {
    for (const auto& edit : all) {
      if (!edit.met) {
        throw InvalidArgument("Trace::edit", "pattern", "a pattern of a value that the pass computes",
                              "\"" + edit.pattern + "\", which met none");
      }
    }
  };
  require(edits);
  require(head_edits);
  require(gradient_edits);
}

bool HeadsEdit::means(std::string_view attention) const {
  return matches(pattern, stage_name(attention, Stage::masked)) ||
         matches(pattern, stage_name(attention, Stage::weights));
}

bool HeadsEdit::means(std::int64_t h) const { return heads.empty() || std::ranges::find(heads, h) != heads.end(); }

}  // namespace trace_detail

namespace {

using trace_detail::Kept;
using trace_detail::KeptAttention;
using trace_detail::Ordered;

constexpr const char* kTrace = "Trace";

std::string kept_names(const Trace& trace) {
  const std::string all = core::joined(trace.names());
  return all.empty() ? "one of none: nothing was kept" : "one of " + all;
}

// [B, Hq, Tq, Tk] in the dtype of the call, with edited heads as edited.
Tensor matrix_of(const KeptAttention& attention, const Probe& probe, Stage stage) {
  const MaskShape& shape = probe.shape();
  const bool is_exact = attention.call.q.dtype() == DType::f64;
  Tensor all(is_exact ? DType::f64 : DType::f32, {shape.B, shape.H, shape.Tq, shape.Tk});
  const MutableTensorView places = all;
  std::vector<double> row(static_cast<std::size_t>(shape.Tk));
  for (std::int64_t h = 0; h < shape.H; ++h) {
    const auto edited = attention.edited.find(std::string(name_of(stage)) + "." + std::to_string(h));
    for (std::int64_t b = 0; b < shape.B; ++b) {
      const bool is_edited = edited != attention.edited.end();
      const Tensor tile = is_edited ? Tensor(edited->second.value().select(0, b).select(0, 0))
                                    : probe.tile({.b = b, .h = h, .i_end = shape.Tq, .j_end = shape.Tk}, stage);
      for (std::int64_t i = 0; i < shape.Tq; ++i) {
        tile.view().load_row(std::array{i}, row);
        places.store_row(std::array{b, h, i}, row);
      }
    }
  }
  return all;
}

struct Matrix {
  const KeptAttention* attention = nullptr;  // null: not the name of a T x T matrix
  Stage stage = Stage::weights;
};

Matrix matrix_named(const Ordered<KeptAttention>& all, std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const bool is_root = dot == std::string_view::npos;
  const auto stage = trace_detail::stage_named(is_root ? name : name.substr(dot + 1));
  if (!stage) return {};
  return {.attention = all.find(is_root ? "" : name.substr(0, dot)), .stage = *stage};
}

}  // namespace

Trace::Trace() : Trace(std::vector<std::string>{"*"}) {}

Trace::Trace(std::vector<std::string> patterns) : record_(std::make_shared<trace_detail::Record>()) {
  record_->patterns = std::move(patterns);
}

Trace& Trace::edit(std::string pattern, Edit edit) {
  const std::string_view leaf = std::string_view(pattern).substr(pattern.rfind('.') + 1);
  if (trace_detail::stage_named(leaf)) {
    throw InvalidArgument("Trace::edit", "pattern",
                          "a value; the matrices of heads, .masked and .weights, are edited by edit_heads()",
                          "\"" + pattern + "\"");
  }
  record_->edits.push_back({.pattern = std::move(pattern), .edit = std::move(edit)});
  return *this;
}

Trace& Trace::edit_heads(std::string pattern, std::vector<std::int64_t> heads, Edit edit) {
  const std::size_t dot = pattern.rfind('.');
  const std::string leaf = dot == std::string::npos ? pattern : pattern.substr(dot + 1);
  if (leaf != name_of(Stage::masked) && leaf != name_of(Stage::weights)) {
    throw InvalidArgument(kTrace, "pattern", "a name that ends in .masked or .weights", "\"" + pattern + "\"");
  }
  record_->head_edits.push_back({.pattern = std::move(pattern), .heads = std::move(heads), .edit = std::move(edit)});
  return *this;
}

Trace& Trace::edit_gradient(std::string pattern, Edit edit) {
  record_->gradient_edits.push_back({.pattern = std::move(pattern), .edit = std::move(edit)});
  return *this;
}

Tensor Trace::operator[](std::string_view name) const {
  if (const Kept* found = record_->kept.find(name)) return Tensor(found->value.value());
  const auto [attention, stage] = matrix_named(record_->attentions, name);
  if (attention != nullptr) return matrix_of(*attention, probe(attention->name), stage);
  throw InvalidArgument(kTrace, "name", kept_names(*this), "\"" + std::string(name) + "\"");
}

Tensor Trace::gradient(std::string_view name) const {
  const Kept* found = record_->kept.find(name);
  if (found == nullptr) {
    throw InvalidArgument(kTrace, "name", kept_names(*this), "\"" + std::string(name) + "\"");
  }
  if (found->gradient.empty()) {
    throw InvalidArgument(kTrace, "name", "a value that backward() gave a gradient", "\"" + std::string(name) + "\"");
  }
  return Tensor(found->gradient.value());
}

bool Trace::contains(std::string_view name) const {
  if (record_->kept.find(name) != nullptr) return true;
  return matrix_named(record_->attentions, name).attention != nullptr;
}

std::vector<std::string> Trace::names() const {
  std::vector<std::string> all;
  for (const Kept& kept : record_->kept.all()) all.push_back(kept.name);
  return all;
}

std::vector<std::string> Trace::attentions() const {
  std::vector<std::string> all;
  for (const KeptAttention& kept : record_->attentions.all()) all.push_back(kept.name);
  return all;
}

const Trace::Attention& Trace::attention(std::string_view name) const {
  if (const KeptAttention* found = record_->attentions.find(name)) return found->call;
  std::string all;
  for (const std::string& kept : attentions()) all += (all.empty() ? "one of " : ", ") + kept;
  throw InvalidArgument(kTrace, "name", all.empty() ? "an attention that was kept; none was" : all,
                        "\"" + std::string(name) + "\"");
}

Probe Trace::probe(std::string_view name) const {
  const Attention& call = attention(name);
  return {call.q.value(), call.k.value(), call.options, call.lse.value()};
}

GradientProbe Trace::gradient_probe(std::string_view name) const {
  const Attention& call = attention(name);
  const Variable& d_out = record_->attentions.find(name)->d_out;
  if (d_out.empty()) {
    throw InvalidArgument(kTrace, "name", "an attention that backward() gave gradients",
                          "\"" + std::string(name) + "\"");
  }
  return {d_out.value(),    call.q.value(),   call.k.value(), call.v.value(),
          call.out.value(), call.lse.value(), call.options};
}

}  // namespace qkv
