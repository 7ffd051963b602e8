#include "text/chat_template/arguments.h"

#include <algorithm>

namespace qkv::text::jinja {

Bound::Bound(std::string_view function, const Arguments& arguments, std::initializer_list<std::string_view> parameters)
    : function_(function), parameters_(parameters), values_(parameters_.size()) {
  if (arguments.by_place.size() > parameters_.size()) {
    throw Fault(function_ + ": expected at most " + std::to_string(parameters_.size()) + " arguments, got " +
                std::to_string(arguments.by_place.size()));
  }
  std::ranges::copy(arguments.by_place, values_.begin());
  for (const auto& [name, value] : arguments.by_name) {
    const auto found = std::ranges::find(parameters_, std::string_view(name));
    if (found == parameters_.end()) throw Fault(function_ + ": expected no argument '" + name + "', got one");
    std::optional<Value>& place = values_[static_cast<std::size_t>(found - parameters_.begin())];
    if (place) throw Fault(function_ + ": expected one argument '" + name + "', got two");
    place = value;
  }
}

void Bound::fail(std::size_t place, std::string_view expected) const {
  throw Fault(function_ + ": expected " + std::string(expected) + " as argument '" + std::string(parameters_[place]) +
              "', got " + (values_[place] ? kind_of(*values_[place]) : "none"));
}

Value Bound::need(std::size_t place) const {
  if (!values_[place]) fail(place, "a value");
  return *values_[place];
}

const MarkedText& Bound::text(std::size_t place) const {
  const MarkedText* text = values_[place] ? values_[place]->text() : nullptr;
  if (text == nullptr) fail(place, "a string");
  return *text;
}

std::int64_t Bound::whole(std::size_t place, std::int64_t otherwise) const {
  if (!values_[place] || values_[place]->is_none()) return otherwise;
  const auto number = values_[place]->whole();
  if (!number) fail(place, "an integer");
  return *number;
}

}  // namespace qkv::text::jinja
