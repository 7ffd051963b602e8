// The state of a trace: its patterns and edits, and the values that a pass left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/nn/trace.h"

namespace qkv::trace_detail {

struct ValueEdit {
  std::string pattern;
  Trace::Edit edit;
  bool met = false;  // a value of the pass
};

struct HeadsEdit {
  std::string pattern;
  std::vector<std::int64_t> heads;  // empty: all
  Trace::Edit edit;
  bool met = false;  // an attention of the pass

  [[nodiscard]] bool means(std::string_view attention) const;
  [[nodiscard]] bool means(std::int64_t h) const;
};

struct Kept {
  std::string name;
  Variable value = {};
  Variable gradient = {};  // empty before backward()
};

struct KeptAttention {
  std::string name;
  Trace::Attention call = {};
  Variable d_out = {};                                       // empty before backward()
  std::map<std::string, Variable, std::less<>> edited = {};  // "weights.2": of a head that was edited, [B, 1, Tq, Tk]
};

/// In the order in which their names came, each found by its name.
template <class Named>
class Ordered {
 public:
  [[nodiscard]] const std::vector<Named>& all() const noexcept { return all_; }

  /// Null for a name that has not come.
  [[nodiscard]] const Named* find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &all_[found->second];
  }

  /// A new one has only its name.
  [[nodiscard]] Named& place_of(const std::string& name) {
    const auto [place, is_new] = places_.try_emplace(name, all_.size());
    if (is_new) all_.push_back({.name = name});
    return all_[place->second];
  }

 private:
  std::vector<Named> all_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

struct Record {
  std::vector<std::string> patterns;
  std::vector<ValueEdit> edits;
  std::vector<HeadsEdit> head_edits;
  std::vector<ValueEdit> gradient_edits;
  Ordered<Kept> kept;
  Ordered<KeptAttention> attentions;

  /// Of the value itself.
  [[nodiscard]] bool wants(std::string_view name) const;
  /// Keeps, probes or changes the value: a pass for this trace alone has to compute it.
  [[nodiscard]] bool uses(std::string_view name) const;
  /// Matches an attention by its own name, or by that of one of its matrices.
  [[nodiscard]] bool wants_attention(std::string_view name) const;
  /// Marks the edits as met.
  [[nodiscard]] bool edits_heads(std::string_view attention);
  /// Before a pass.
  void clear();
  /// After it: throws InvalidArgument for an edit that has met nothing.
  void require_met() const;
};

/// "blocks.0.attn.weights"; "weights" of a layer by itself, whose attention has no name.
[[nodiscard]] std::string stage_name(std::string_view attention, Stage stage);
/// `*` stands for any run of characters.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);
/// "raw", "scaled", …; nullopt for another word.
[[nodiscard]] std::optional<Stage> stage_named(std::string_view word);

}  // namespace qkv::trace_detail
