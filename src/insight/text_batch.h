// Texts of one length side by side, as a model reads them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/listed.h"
#include "qkv/insight/heads.h"

namespace qkv::insight {

/// B texts without padding.
struct TextBatch {
  std::vector<const HeadText*> texts;
  Tensor ids;                       // i64 [B, T]
  Tensor types = {};                // i64 [B, T]; empty where no text has any
  Tensor source = {};               // i64 [B, S]; empty without
  Tensor images = {};               // f32 [B, 3, side, side]; empty without
  Tensor sounds = {};               // f32 [B, bins, frames]; likewise
  Tensor targets;                   // i64 [B, T]
  std::vector<std::int64_t> asked;  // [B]: targets of each text

  [[nodiscard]] ModelInput input() const;
  [[nodiscard]] std::int64_t all_asked() const;
};

/// Each text in one batch, in the order in which their lengths come. A batch has so few that the T x T matrices of
/// `heads` heads stay small.
[[nodiscard]] std::vector<TextBatch> batches_of(std::span<const HeadText> texts, std::int64_t heads);

/// A site whose heads are no other's: a decoder has one, its text.
struct OwnSite {
  AttentionSite site = AttentionSite::tokens;
  SiteScope scope;
};
[[nodiscard]] std::vector<OwnSite> sites_of(const Model& model);

/// "cross, tokens" of what has a `site`, for messages.
[[nodiscard]] std::string names_of_sites(const auto& sites) {
  return core::joined(sites, [](const auto& one) { return name_of(one.site); });
}

/// Whether such a text makes the site run: of two towers, text or image may stand alone.
[[nodiscard]] bool runs_site(const Model& model, const HeadText& text, AttentionSite site);
/// Those of sites_of() that such a text makes run, cross-attention first.
[[nodiscard]] std::vector<OwnSite> sites_run(const Model& model, const HeadText& text);

/// The one of sites_of() whose heads a site has: a decoder's is its text, whatever it reads.
[[nodiscard]] AttentionSite own_site(const Model& model, AttentionSite site);

/// One text by itself, in model.dtype().
void run_text(const Model& model, const HeadText& text, Trace& trace);

}  // namespace qkv::insight
