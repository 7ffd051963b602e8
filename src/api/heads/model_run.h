// A model's pass over one text, kept while a page looks at its heads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/texts.h"
#include "qkv/explain/model.h"
#include "qkv/insight/heads.h"
#include "qkv/model/text_model.h"
#include "qkv/nn/trace.h"

namespace qkv::api_detail {

inline constexpr std::int64_t kAnyTokens = std::numeric_limits<std::int64_t>::max();

/// What a model's pass may cost.
struct PassBounds {
  std::int64_t tokens = kAnyTokens;
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
};

/// What a model is shown.
struct ShownText {
  std::string model;
  std::string text = {};                               // or …
  std::string second = {};                             // with a second text, of an encoder that reads pairs
  std::optional<std::int64_t> example = std::nullopt;  // … a held-out example of its task
  std::string changes = {};                            // of what runs inside: "remove 1.0; cut 7:3"
  std::string from_text = {};                          // that they take from
  std::string picture = {}, sound = {};                // in place of a text
  ChatRequest talk = {};                               // whose message the text is

  friend bool operator==(const ShownText&, const ShownText&) = default;
};

/// One attention of the model, over the text that it was shown.
struct RunSite {
  AttentionSite site = AttentionSite::tokens;
  SiteScope scope;
  std::vector<std::string> queries;
  std::vector<std::string> keys;
};

class ModelRun {
 public:
  /// Runs the model once, changed as asked, and keeps q, k, v and lse of all its attentions. Throws InvalidArgument
  /// naming text, second, example, changes or from_text; before the pass where that would cost more than the bounds.
  ModelRun(std::shared_ptr<const TextModel> trained, const ShownText& shown, const PassBounds& bounds);
  /// Takes a pass of this model that has run.
  ModelRun(std::shared_ptr<const TextModel> trained, const ModelPass& pass);

  /// Of q, k, v, out and lse.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const TextModel& trained() const noexcept { return *trained_; }
  [[nodiscard]] const Example& example() const noexcept { return shown_.example; }
  /// Of each token of a conversation; else empty.
  [[nodiscard]] const std::vector<std::string>& sources() const noexcept { return shown_.sources; }
  [[nodiscard]] const HeadText& text() const noexcept { return text_; }
  /// Of a pair of texts: the place where the second begins.
  [[nodiscard]] std::optional<std::int64_t> second_from() const noexcept { return second_from_; }
  /// Scores of the vocabulary at the place that the task asks of, f64, as this pass gave them; empty of a pair of
  /// texts, of a pass with changes and of a model that says no tokens.
  [[nodiscard]] const Tensor& said() const noexcept { return *said_; }
  [[nodiscard]] const std::vector<RunSite>& sites() const noexcept { return sites_; }
  /// Its name, or the first of cross, tokens and source where `name` is empty. Throws InvalidArgument naming `site`.
  [[nodiscard]] const RunSite& site(const std::string& name) const;
  /// Throws InvalidArgument naming `layer`.
  [[nodiscard]] const Trace::Attention& call(const RunSite& site, std::int64_t layer) const;
  /// [H, Tq, Tk] of a layer, f64 for f64, else f32: allocates them all.
  [[nodiscard]] Tensor weights(const RunSite& site, std::int64_t layer) const;
  /// A probe of that call; it must not outlive the run.
  [[nodiscard]] Probe probe(const RunSite& site, std::int64_t layer) const;

 private:
  void change(const ShownText& shown);
  void tell_of_layers();
  void keep_said(const Batch& batch);
  void name_places();

  std::shared_ptr<const TextModel> trained_;
  ReadExample shown_;
  std::optional<std::int64_t> second_from_;
  HeadText text_;
  Trace trace_;
  std::shared_ptr<Tensor> said_ = std::make_shared<Tensor>();
  std::vector<RunSite> sites_;
};

/// A text, or a pair of them, as the model reads it.
struct PairedText {
  HeadText text;
  std::optional<std::int64_t> second_from = std::nullopt;
};
/// Throws InvalidArgument naming `second` where the model reads no pairs.
[[nodiscard]] PairedText paired_text(const TextModel& trained, const ShownText& shown);

/// Names of the places of a site: tokens as people read them, numbers where they have none.
struct PlaceNames {
  std::vector<std::string> queries;
  std::vector<std::string> keys;
};
[[nodiscard]] PlaceNames names_of_places(const TextModel& trained, const HeadText& text, const Example& example,
                                         AttentionSite site, std::int64_t queries, std::int64_t keys);

}  // namespace qkv::api_detail
