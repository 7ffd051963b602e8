// One GET over the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "qkv/hub/fetch.h"

namespace qkv::hub {

/// What came of a try.
enum class Outcome : std::uint8_t {
  done,
  failed,   // another try may help: the network, or a hub that is busy
  refused,  // none will
  stopped,  // the receiver said so
};

struct Answer {
  Outcome outcome = Outcome::done;
  long status = 0;      // of HTTP; 0 where none came
  std::string message;  // where it is not done
};

/// Handed the bytes as they come; `restarted` where they begin anew although a part was asked for. False stops.
using Receiver = std::function<bool(std::span<const std::byte> bytes, bool restarted)>;

/// Asked at least once a second, also while nothing comes; false stops.
using Waiter = std::function<bool()>;

/// Bytes from `begin` on. Follows redirections, over http and https alone; the token goes to the first host only. Gives
/// up after 30 s without a connection, or a minute without a byte.
[[nodiscard]] Answer get(const std::string& url, const std::string& token, std::int64_t begin, const Receiver& receive,
                         const Waiter& wait);

}  // namespace qkv::hub
