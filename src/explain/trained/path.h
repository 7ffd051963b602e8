// From a layer's heads to the answer: blocks, residual stream, scores, and what each part and head does for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/trained/chosen_head.h"
#include "explain/trained/sites.h"

namespace qkv::explain_detail {

/// What the last steps are about: one token that is predicted at one place.
struct Answer {
  std::size_t place = 0;     // of the example's tokens
  std::int64_t row = 0;      // of the traced tensors: in a joined text after the source
  std::int32_t token = 0;    // of the vocabulary
  bool is_expected = false;  // the task asks for it; otherwise it is the likeliest
  std::string at;            // the token at the place
  std::string text;
};

/// The place that the question names, else the last that has the chosen head's pattern and is asked, else the last that
/// is asked, else the last.
[[nodiscard]] Answer answer_of(const Ran& ran, const ChosenHead& chosen, std::optional<std::size_t> query,
                               const TensorView& probabilities);

/// A block: what reaches it, what attention and feed-forward add, and what leaves it. Of each block, or of one.
[[nodiscard]] std::vector<Section> block_sections(const Ran& ran, const std::vector<TracedSite>& sites,
                                                  const std::string& block);
/// The trace's names of all blocks in the order in which they ran: "decoder.blocks.0".
[[nodiscard]] std::vector<std::string> blocks_of(const Trace& trace);

/// What the final norm gives, if there is one.
[[nodiscard]] std::optional<Section> final_norm_step(const Ran& ran, const std::vector<TracedSite>& sites);
/// The scores and probabilities at the answer's place.
[[nodiscard]] Section answer_step(const Ran& ran, const Answer& answer);
/// How much each part of the residual stream adds to the answer's score, by the final norm as it ran. Pre-norm only.
[[nodiscard]] std::optional<Section> parts_step(const Ran& ran, const Answer& answer);
/// The change of the answer's probability, or of a pair's cosine, if a head gives zeros: one pass a head.
[[nodiscard]] Section removal_step(const Ran& ran, const std::vector<TracedSite>& sites, const Answer& answer);
[[nodiscard]] Section pair_removal_step(const Ran& ran, const std::vector<TracedSite>& sites);

/// Where the model that says tokens stands in a trace: "", "decoder.".
[[nodiscard]] std::string stack_of(const TextModel& trained);
/// The scores of the vocabulary at the answer's place, of what a trace has of all places of some texts.
[[nodiscard]] std::vector<double> scores_at(const Tensor& logits, const Answer& answer, std::int64_t text = 0);

}  // namespace qkv::explain_detail
