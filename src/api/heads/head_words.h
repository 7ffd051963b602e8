// What is said of a head beside its numbers, and what the questions about heads refuse.
#pragma once

#include <cstdint>
#include <vector>

#include "api/heads/model_run.h"
#include "qkv/api/heads.h"
#include "qkv/insight/heads.h"

namespace qkv::api_detail {

[[nodiscard]] ShownText shown_text_of(const HeadsRequest& request);
[[nodiscard]] ShownText shown_text_of(const HeadRequest& request);

/// Throws InvalidArgument naming `text` for more places than kWholeHead.
void require_short(const RunSite& site);
/// Throws InvalidArgument naming `head` or `layer`.
void require_head(const ModelRun& run, const RunSite& site, const HeadRequest& request);

/// What each of some heads of a layer does; `weights` are theirs, [H, Tq, Tk], and they are counted from 0.
[[nodiscard]] std::vector<HeadStatistics> statistics_of(const ModelRun& run, const RunSite& site, std::int64_t layer,
                                                        const Tensor& weights);
[[nodiscard]] HeadsClass class_shown(const HeadStatistics& head, std::int64_t layer);
void put_words(const ModelRun& run, const RunSite& site, const HeadRequest& request, const Tensor& weights,
               HeadWords& words);

}  // namespace qkv::api_detail
