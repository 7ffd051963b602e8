// Changes of what runs inside a model, as small values: a head without output, another pattern, an edge that is cut, a
// value of another run, norms that are held. docs/interventions.md describes each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "qkv/insight/heads.h"

namespace qkv {

/// One head of a site, or all of those that are left open. As text "1.0", "cross:1.0", "1.*" or "*.*".
struct HeadsAt {
  AttentionSite site = AttentionSite::tokens;
  std::optional<std::int64_t> layer = std::nullopt;  // none: every layer
  std::optional<std::int64_t> head = std::nullopt;   // none: every head
  friend bool operator==(const HeadsAt&, const HeadsAt&) = default;
};

/// The heads give zeros. "remove 1.0".
struct RemovedHead {
  HeadsAt at = {};
  friend bool operator==(const RemovedHead&, const RemovedHead&) = default;
};

/// What the rows of a head's weights are replaced by.
enum class PatternSource : std::uint8_t {
  uniform,   // even over the keys that the row sees
  previous,  // all on the key before the query's own
  self,      // all on the query's own key
  key,       // all on one key
  other,     // the weights of the same head on the other text, as many tokens long
};

/// A row that does not see the key of `previous`, `self` or `key` keeps its weights. "pattern 2.3=uniform",
/// "pattern 2.3=previous", "pattern 2.3=self", "pattern 2.3=0" for key 0, "pattern 2.3=text" for the other text.
struct ReplacedPattern {
  HeadsAt at = {};
  PatternSource source = PatternSource::uniform;
  std::int64_t key = 0;  // of PatternSource::key
  friend bool operator==(const ReplacedPattern&, const ReplacedPattern&) = default;
};

/// The query no longer sees the key: its score is -inf, and the weights of the others sum to 1. "cut 7:3" in every head
/// of every layer, "cut 1.0=7:3" in one.
struct CutEdge {
  HeadsAt at = {};
  std::int64_t query = 0;
  std::int64_t key = 0;
  friend bool operator==(const CutEdge&, const CutEdge&) = default;
};

/// The value of this name (docs/trace.md) is that of the run over the other text: all of it, of one head, or at one
/// place. "patch blocks.1", "patch blocks.1@5", "patch blocks.1.attn.heads.3@5".
struct PatchedValue {
  std::string name;
  std::optional<std::int64_t> head = std::nullopt;
  std::optional<std::int64_t> place = std::nullopt;
  friend bool operator==(const PatchedValue&, const PatchedValue&) = default;
};

/// What a number of one head is set to: of its query, its key or value (those of all heads that share them), or of what
/// it hands on.
enum class HeadValue : std::uint8_t { q, k, v, out };

/// One number of one head at one place of the text, as the pass has it: q and k after the rotation by their positions.
/// "set 1.0=k:2,5:0.7" is number 5 of the key at place 2; "out" is what the head hands on.
struct SetNumber {
  HeadsAt at = {};  // a layer and a head
  HeadValue value = HeadValue::out;
  std::int64_t place = 0;
  std::int64_t column = 0;
  double to = 0;
  friend bool operator==(const SetNumber&, const SetNumber&) = default;
};

/// Each norm divides by what it divided by in the unchanged run, so that it is linear in what it reads. "freeze norms".
struct FrozenNorms {
  friend bool operator==(const FrozenNorms&, const FrozenNorms&) = default;
};

using Intervention = std::variant<RemovedHead, ReplacedPattern, CutEdge, PatchedValue, SetNumber, FrozenNorms>;

/// The texts above. Throws InvalidArgument naming the kind ("remove", "pattern", "cut", "patch", "set", "freeze"), or
/// "intervention" for another word.
[[nodiscard]] Intervention parse_intervention(std::string_view text);
/// The text that parse_intervention() reads.
[[nodiscard]] std::string to_string(const Intervention& intervention);
/// Whether it takes something from a run over another text.
[[nodiscard]] bool reads_other_text(const Intervention& intervention);

/// Patterns of names that a run over a text keeps, and one over the other text; empty: no run.
struct KeptOfTexts {
  std::vector<std::string> text = {};
  std::vector<std::string> other = {};
};

/// Interventions on one text, made edits of a trace.
class Intervener {
 public:
  /// `other` is the text that patches and PatternSource::other take from; null: none. All are kept by reference. The
  /// runs of prepare() keep `kept`, too, for whoever asks more of them.
  Intervener(const Model& model, const HeadText& text, const HeadText* other = nullptr, KeptOfTexts kept = {});
  Intervener(Model&&, const HeadText&, const HeadText* = nullptr, KeptOfTexts = {}) = delete;

  /// Goes on with another text, and with what ran of the other one.
  void turn_to(const HeadText& text);

  /// Runs what must be known of the text as it is and of the other one, in model.dtype(); no more often than needed.
  void prepare(std::span<const Intervention> all);
  /// What prepare() left of the text as it is, and of the other one.
  [[nodiscard]] const Trace& unchanged() const noexcept { return unchanged_; }
  [[nodiscard]] const Trace& other_run() const noexcept { return other_run_; }
  /// Adds edits to `trace`, with which a pass over the text then runs. The edits stay valid without this object. They
  /// compose: patches, removals and numbers that are set in the order given, cuts before patterns, so that "uniform"
  /// leaves out what is cut. Edited heads leave the fused path; rows are computed for each. Throws InvalidArgument
  /// naming the kind of the intervention for a site, layer, head, token or value that there is not, two patterns for
  /// one head, an edge that no head sees, a cut that leaves a row nothing to see, and "previous" or "self" across;
  /// naming from_text if another text is needed and is none, or has another length. A head or place that a removal does
  /// not find is said when the pass runs.
  void add(std::span<const Intervention> all, Trace& trace);

 private:
  struct Plans;

  void require_alike() const;
  [[nodiscard]] SiteScope scope_of(const char* kind, const HeadsAt& at) const;
  void plan(const ReplacedPattern& pattern, Plans& plans) const;
  void plan(const CutEdge& cut, Plans& plans) const;
  void add_plans(const Plans& plans, Trace& trace) const;
  void add_removal(const RemovedHead& removed, Trace& trace) const;
  void add_patch(const PatchedValue& patch, Trace& trace) const;
  void add_number(const SetNumber& number, Trace& trace) const;
  void add_held_norms(Trace& trace) const;

  const Model& model_;
  const HeadText* text_;
  const HeadText* other_;
  KeptOfTexts wanted_;    // of the runs that are needed
  KeptOfTexts ran_ = {};  // of those that ran
  Trace unchanged_, other_run_;
};

}  // namespace qkv
