// A text too long for its matrices: of each layer some rows in full, and of every head means and statistics, read when
// the layer has run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/trained/model_run.h"
#include "explain/trained/sites.h"

namespace qkv::explain_detail {

/// A text of more tokens is explained without its T x T matrices. kExplainTokens bounds what is_long_text() does not
/// take: a text with a source or an image.
inline constexpr std::int64_t kWholeTokens = 1024;
/// Queries of a long text that are shown in full.
inline constexpr std::int64_t kRowsInFull = 64;
/// The longest text: means and statistics of all heads take O(T²) time.
inline constexpr std::int64_t kLongestText = 32'768;
/// The scores after a long text's last token, [1, 1, vocabulary], as its trace keeps them.
inline constexpr const char* kLastScores = "last_scores";

/// Whether this text is read layer by layer: one that a decoder or an encoder reads alone, of more than kWholeTokens.
[[nodiscard]] bool is_long_text(const TextModel& trained, const Example& example);

/// Which rows of a long text are shown, and the layer whose call is.
struct LongQuestion {
  std::int64_t first = 0;  // of kRowsInFull queries
  std::size_t layer = 0;
};

/// Runs the model. Of what the trace keeps of each layer, and of the scores, the rows from `first` on are left, as of a
/// text of these tokens alone; of the attentions that of the layer, its queries likewise and all of its keys. Holds
/// one layer's values at a time. With scores, the trace has kLastScores. The site has `long_text`.
[[nodiscard]] TracedSite run_long_text(const TextModel& trained, const Batch& batch, const Example& example,
                                       const LongQuestion& question, Trace& trace);

}  // namespace qkv::explain_detail
