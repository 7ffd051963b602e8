// A socket that listens.
#pragma once

#include <string>

#include "connection.h"

namespace qkv::studio {

/// Throws InvalidArgument naming `host` or `port`.
[[nodiscard]] Connection listen_at(const std::string& host, int port);

[[nodiscard]] int port_of(const Connection& listening);

}  // namespace qkv::studio
