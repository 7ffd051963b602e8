// One request and its reply, in HTTP.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "access.h"
#include "door.h"
#include "pages.h"
#include "qkv/view/asking.h"

namespace qkv::studio {

struct ExchangeLimits {
  std::size_t body_bytes = 16 << 20;
  std::chrono::milliseconds body{60'000};     // until a request's body has come
  std::chrono::milliseconds writing{20'000};  // between two bytes that a client takes
};

/// The bytes of a model of the box; none for any other name. Called by several threads at once.
using ReadModel = std::function<std::vector<std::byte>(const std::string& name)>;

/// What all exchanges of one server share.
struct Service {
  Ask ask;
  Pages pages;
  ReadModel read_model;  // may be empty
  Access access;
  ExchangeLimits limits;
  std::function<bool()> closes;
};

/// Replies to an arrival's one request. Returns false if the client may still send what was not read.
[[nodiscard]] bool exchange(const Service& service, Arrival& arrival);

}  // namespace qkv::studio
