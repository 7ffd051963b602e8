#include "insight/masked_texts.h"

#include <algorithm>
#include <cmath>

#include "qkv/model/batch.h"

namespace qkv::insight {

HeadText masked_text(const HeadText& text, const MaskedTokens& masks, Generator& generator) {
  std::vector<std::size_t> places;
  for (std::size_t p = 0; p < text.ids.size(); ++p) {
    if (text.roles.empty() || text.roles[p] != TokenRole::separator) places.push_back(p);
  }
  HeadText made = text;
  made.targets.assign(text.ids.size(), kNothingAsked);
  made.scored.clear();
  if (places.empty()) return made;
  const auto count = std::max<std::int64_t>(1, std::llround(masks.share * static_cast<double>(places.size())));
  const Tensor order = generator.randperm(std::ssize(places));
  for (const std::int64_t at : order.values<std::int64_t>().first(static_cast<std::size_t>(count))) {
    const std::size_t place = places[static_cast<std::size_t>(at)];
    made.targets[place] = text.ids[place];
    made.ids[place] = *masks.mask;
  }
  return made;
}

}  // namespace qkv::insight
