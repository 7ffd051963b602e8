// One request and its reply, in HTTP.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "access.h"
#include "door.h"
#include "pages.h"
#include "qkv/api/asking.h"

namespace qkv::studio {

struct ExchangeLimits {
  std::size_t body_bytes = 16 << 20;
  std::chrono::milliseconds body{60'000};     // until a request's body has come
  std::chrono::milliseconds writing{20'000};  // between two bytes that a client takes
  std::size_t unsent = 256 << 20;             // of all replies that clients have not taken; then an answer waits
  std::size_t unsent_of_one = 32 << 20;       // of one, likewise
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
  Budget* unsent = nullptr;
};

/// What the head of a request says of the rest, if the request is one that is answered.
[[nodiscard]] Announced announced_by(const Service& service, std::string_view head);

/// Replies to an arrival's one request, and waits for no client that takes its reply slowly: what it has not taken is
/// left in the arrival. Returns false if the client may still send what was not read.
[[nodiscard]] bool exchange(const Service& service, Arrival& arrival);

}  // namespace qkv::studio
