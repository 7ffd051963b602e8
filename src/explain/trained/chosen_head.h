// Which head is shown: the one that the question names, or the one that the text calls for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "explain/trained/sites.h"
#include "qkv/explain/model.h"

namespace qkv::explain_detail {

struct ChosenHead {
  std::size_t site = 0;
  std::size_t layer = 0;
  std::size_t head = 0;
  std::vector<std::size_t> queries = {};  // those that have its pattern in this text, by rising index
  std::string why = {};                   // in a line; empty if the question names it, or nothing speaks for one
};

/// What there is to choose from.
struct HeadsOfSite {
  std::string name;
  std::vector<std::int64_t> heads;  // of each layer
  bool is_whole = false;            // as TracedSite has it
};

/// See explain_model(). Throws InvalidArgument naming site, layer or head.
[[nodiscard]] ChosenHead choose_head(const Ran& ran, const std::vector<TracedSite>& sites,
                                     const ModelQuestion& question);
/// The same before a pass, for a text whose patterns are not looked at: by held-out examples alone.
[[nodiscard]] ChosenHead choose_head(const TextModel& trained, const HeadsOfSite& site, const ModelQuestion& question);

}  // namespace qkv::explain_detail
