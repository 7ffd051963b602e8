// The attention of a model, site by site, out of a trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/trained/model_run.h"
#include "qkv/model/text_model.h"
#include "qkv/nn/trace.h"

namespace qkv::explain_detail {

/// One example as it ran.
struct Ran {
  const TextModel& trained;
  const Example& example;
  const Batch& batch;
  const Trace& trace;
  std::size_t first = 0;  // the place in the text of the first row of the trace
};

/// A site beside the place in the trace that it comes from.
struct TracedSite {
  SiteScope scope;
  SiteWeights shown;
  bool is_whole = false;  // a joined text: source and tokens together
};

[[nodiscard]] std::vector<std::string> texts_of(const Tokenizer& vocabulary, const std::vector<std::int32_t>& tokens);

/// The sites that the model has, with their patterns; of a joined text with a source, the whole text last.
[[nodiscard]] std::vector<TracedSite> sites_of(const Ran& ran);

/// The attention call of a layer of the site.
[[nodiscard]] LayerCall call_of(const Trace& trace, const TracedSite& site, std::size_t layer);

}  // namespace qkv::explain_detail
