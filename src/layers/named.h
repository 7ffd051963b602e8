// A layer's operations under its name.
#pragma once

#include <string>

#include "qkv/autograd/watch.h"

namespace qkv::learn {

/// What `body` gives, with its operations named as those of the part that parameters() calls `name`.
template <class Body>
[[nodiscard]] auto named(const std::string& name, const Body& body) {
  const OperationScope scope(name);
  return body();
}

}  // namespace qkv::learn
