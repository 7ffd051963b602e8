// A client that sends any bytes and reads what comes, a frame if it is one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/connection.h"

namespace qkv::studio::tests {

struct Reply {
  int status = 0;                              // 0: the connection ended without one
  std::map<std::string, std::string> headers;  // names in small letters
  std::string body;                            // without the marks of chunks
  bool is_whole = false;                       // as long as the head says
};

struct Frame {
  std::uint32_t kind = 0;
  std::string payload;
};

class RawClient {
 public:
  explicit RawClient(int port, const std::string& host = "127.0.0.1");

  /// False once the server takes no more.
  bool send(std::string_view bytes);

  /// Whatever comes next; empty at the end, and after a minute.
  [[nodiscard]] std::string read_some();

  /// All that comes until the end.
  [[nodiscard]] Reply read_reply();

  [[nodiscard]] int socket() const { return connection_.socket(); }

 private:
  Connection connection_;
};

/// The frames of a body; throws if it ends inside one.
[[nodiscard]] std::vector<Frame> frames_of(std::string_view body);

/// "POST /TOKEN/ask/NAME" with this body, as a browser sends it.
[[nodiscard]] std::string question(int port, std::string_view token, std::string_view name, std::string_view body);

/// A request without a body.
[[nodiscard]] std::string request_to(int port, std::string_view method, std::string_view target);

/// The part of an address behind "http://127.0.0.1:".
[[nodiscard]] int port_in(const std::string& url);

}  // namespace qkv::studio::tests
