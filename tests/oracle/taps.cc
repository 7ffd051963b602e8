#include "qkv/nn/taps.h"

#include <algorithm>
#include <utility>

namespace qkv {
namespace {

// Glob with `*` alone: greedy, going back to the last star on a mismatch.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

Taps::Taps(std::vector<std::string> patterns) : patterns_(std::move(patterns)), everything_linear_(false) {}

const Tensor& Taps::operator[](std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found != entries_.end()) return found->value;
  std::string kept;
  for (const Entry& entry : entries_) kept += (kept.empty() ? "" : ", ") + entry.name;
  throw InvalidArgument("Taps", "name", kept.empty() ? "a name of what was kept (nothing)" : "one of " + kept,
                        "\"" + std::string(name) + "\"");
}

bool Taps::contains(std::string_view name) const {
  return std::ranges::find(entries_, name, &Entry::name) != entries_.end();
}

std::vector<std::string> Taps::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

bool Taps::wants(std::string_view name, Extent extent) const {
  if (everything_linear_) return extent == Extent::linear;
  return std::ranges::any_of(patterns_, [&](const std::string& pattern) { return matches(pattern, name); });
}

void Taps::put(std::string_view name, const TensorView& value, Extent extent) {
  if (!wants(name, extent)) return;
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found != entries_.end()) {
    found->value = Tensor(value);
  } else {
    entries_.push_back({std::string(name), Tensor(value)});
  }
}

TapScope TapScope::inner(std::string_view name) const {
  TapScope scope = *this;
  if (taps_ != nullptr) scope.prefix_.append(name).append(".");
  return scope;
}

bool TapScope::wants(std::string_view leaf, Taps::Extent extent) const {
  return taps_ != nullptr && taps_->wants(full_name(leaf), extent);
}

void TapScope::put(std::string_view leaf, const TensorView& value, Taps::Extent extent) const {
  if (taps_ != nullptr) taps_->put(full_name(leaf), value, extent);
}

std::string TapScope::full_name(std::string_view leaf) const { return prefix_ + std::string(leaf); }

}  // namespace qkv
