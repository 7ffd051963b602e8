// The studio's page of an explanation.
#pragma once

#include <string>

#include "qkv/api/explain.h"
#include "qkv/api/match.h"

namespace qkv::studio {

/// The page Explain with this explanation, which is not computed again, the page Step where one head can be laid on the
/// bench, and of a trained model the page Heads. Throws as studio_page().
[[nodiscard]] std::string explain_page(const ExplainRequest& asked, const Explanation& explanation,
                                       const OpenedModel& model);

/// The page Explain of what was found for this request.
[[nodiscard]] std::string match_page(const MatchRequest& asked, const MatchFound& found);

}  // namespace qkv::studio
