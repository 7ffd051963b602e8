#include "model/families/stored_weights.h"

#include <algorithm>
#include <array>
#include <utility>

#include "qkv/error.h"

namespace qkv::families {
namespace {

// The first checkpoints of TensorFlow, google-bert's among them, call the parameters of a norm so.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOlderWords = {
    {{".weight", ".gamma"}, {".bias", ".beta"}}};

void put_number(std::string& name, char sign, const std::string& number) {
  if (const std::size_t place = name.find(sign); place != std::string::npos) name.replace(place, 1, number);
}

// The number behind `word` in `name`, which `sign` then stands for.
std::string take_number(std::string& name, std::string_view word, std::string_view sign) {
  std::size_t begin = name.find(word);
  if (begin == std::string::npos) return "";
  begin += word.size();
  std::string number = name.substr(begin, name.find('.', begin) - begin);
  name.replace(begin, number.size(), sign);
  return number;
}

std::string_view first_word(std::string_view name) { return name.substr(0, name.find('.')); }

// What stands before the first of the family's names that the files have, if anything does.
std::optional<std::string> prefix_before(std::string_view theirs, const WeightFiles& files) {
  std::string name = std::string(theirs) + ".weight";
  put_number(name, '#', "0");
  std::optional<std::string> shortest;
  for (const auto& [stored, file] : files.names()) {
    if (!stored.ends_with(name)) continue;
    std::string before = stored.substr(0, stored.size() - name.size());
    if (!before.empty() && before.back() != '.') continue;
    if (!shortest || before.size() < shortest->size()) shortest = std::move(before);
  }
  return shortest;
}

std::string prefix_in(const Family& family, const WeightFiles& files) {
  for (const WeightName& name : family.names) {
    if (name.in_head) continue;
    for (const std::string_view theirs : {name.theirs, name.otherwise}) {
      if (theirs.empty()) continue;
      if (auto before = prefix_before(theirs, files)) return *before;
    }
  }
  return "";
}

}  // namespace

ParameterName::ParameterName(std::string name) : whole(std::move(name)) {
  number = take_number(whole, "blocks.", "#");
  expert = take_number(whole, ".experts.", "@");
  last = whole.substr(std::min(whole.rfind('.'), whole.size()));
}

std::string ParameterName::numbered(std::string_view pattern) const {
  std::string name(pattern);
  put_number(name, '#', number);
  put_number(name, '@', expert);
  return name;
}

StoredWeights::StoredWeights(const Family& family, const WeightFiles& files)
    : family_(&family), files_(&files), prefix_(prefix_in(family, files)) {
  if (prefix_.ends_with(family.prefix)) outer_ = prefix_.substr(0, prefix_.size() - family.prefix.size());
}

const WeightName& StoredWeights::weight_of(const ParameterName& parameter) const {
  const WeightName* first = nullptr;
  for (const WeightName& name : family_->names) {
    if (name.ours != parameter.layer() && name.ours != parameter.whole) continue;
    if (find(name, parameter)) return name;
    if (first == nullptr) first = &name;
  }
  if (first != nullptr) return *first;
  throw Error("no weight of the family " + std::string(family_->type) + " is the parameter " + parameter.whole);
}

std::string StoredWeights::placed(const WeightName& weight, std::string_view theirs,
                                  const ParameterName& parameter) const {
  const bool is_whole = weight.ours == parameter.whole;
  return (weight.in_head ? outer_ : prefix_) + parameter.numbered(theirs) + (is_whole ? "" : parameter.last);
}

std::optional<std::string> StoredWeights::stored_as(const std::string& name) const {
  if (files_->contains(name)) return name;
  for (const auto& [now, before] : kOlderWords) {
    if (!name.ends_with(now)) continue;
    std::string older = name.substr(0, name.size() - now.size()) + std::string(before);
    if (files_->contains(older)) return older;
  }
  return std::nullopt;
}

std::optional<std::string> StoredWeights::find(const WeightName& weight, const ParameterName& parameter) const {
  if (auto own = stored_as(placed(weight, weight.theirs, parameter))) return own;
  if (!weight.otherwise.empty()) {
    if (auto other = stored_as(placed(weight, weight.otherwise, parameter))) return other;
  }
  return parameter.whole == kTableParameter ? table_ : std::nullopt;
}

std::optional<std::string> StoredWeights::find_own(std::string_view ours) const {
  const ParameterName parameter{std::string(ours)};
  for (const WeightName& name : family_->names) {
    if (name.ours != parameter.layer() && name.ours != parameter.whole) continue;
    if (auto own = stored_as(placed(name, name.theirs, parameter))) return own;
  }
  return std::nullopt;
}

std::string StoredWeights::expected(const WeightName& weight, const ParameterName& parameter) const {
  return placed(weight, weight.otherwise.empty() ? weight.theirs : weight.otherwise, parameter);
}

bool StoredWeights::is_of_known_head(std::string_view name) const {
  return std::ranges::any_of(family_->names, [&](const WeightName& known) {
    const std::string begin = outer_ + std::string(known.theirs);
    return known.in_head && known.ours.starts_with("head") && (name == begin + ".weight" || name == begin + ".bias");
  });
}

bool StoredWeights::is_outside(std::string_view name) const {
  const bool is_under = name.starts_with(prefix_);
  if (is_under && !prefix_.empty()) return false;
  if (is_of_known_head(name)) return true;
  const std::string_view word = first_word(is_under ? name.substr(prefix_.size()) : name);
  return std::ranges::none_of(family_->names,
                              [&](const WeightName& known) { return first_word(known.theirs) == word; });
}

}  // namespace qkv::families
