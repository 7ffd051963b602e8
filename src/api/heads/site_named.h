// Which of the sites of a model is meant.
#pragma once

#include <algorithm>
#include <string>

#include "api/fields/refuse.h"
#include "insight/text_batch.h"

namespace qkv::api_detail {

/// The first where `name` is empty. Throws InvalidArgument naming site.
template <class Site>
[[nodiscard]] const Site& site_named(const std::vector<Site>& sites, const std::string& name) {
  const auto found =
      std::ranges::find_if(sites, [&](const Site& one) { return name.empty() || name == name_of(one.site); });
  if (found != sites.end()) return *found;
  refuse("site", "one that the model has: " + insight::names_of_sites(sites), "\"" + name + "\"");
}

}  // namespace qkv::api_detail
