// The state of a trace: its patterns and edits, and the values that a pass left.
#pragma once

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
};

struct HeadsEdit {
  std::string pattern;
  std::vector<std::int64_t> heads;  // empty: all
  Trace::Edit edit;
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

struct Record {
  std::vector<std::string> patterns;
  std::vector<ValueEdit> edits;
  std::vector<HeadsEdit> head_edits;
  std::vector<ValueEdit> gradient_edits;
  std::vector<Kept> kept;
  std::vector<KeptAttention> attentions;

  /// Of the value itself.
  [[nodiscard]] bool wants(std::string_view name) const;
  /// Matches an attention by its own name, or by that of one of its matrices.
  [[nodiscard]] bool wants_attention(std::string_view name) const;
  [[nodiscard]] bool edits_heads(std::string_view attention) const;
};

/// "blocks.0.attn.weights"; "weights" of a layer by itself, whose attention has no name.
[[nodiscard]] std::string stage_name(std::string_view attention, Stage stage);
/// `*` stands for any run of characters.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);
/// "raw", "scaled", …; nullopt for another word.
[[nodiscard]] std::optional<Stage> stage_named(std::string_view word);

}  // namespace qkv::trace_detail
