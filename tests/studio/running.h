// A server that runs, with made-up pages.
#pragma once

#include <string>
#include <utility>

#include "server/studio_server.h"
#include "studio/raw_client.h"

namespace qkv::studio::tests {

inline constexpr Pages kPages = {
    .page = "the page", .script = "the script", .style = "the style", .worker = "the worker"};

class Running {
 public:
  explicit Running(Ask ask, StudioServerOptions options = {})
      : options_(std::move(options)), server_(std::move(ask), kPages, options_with_token(options_)) {
    server_.start();
  }

  [[nodiscard]] StudioServer& server() { return server_; }
  [[nodiscard]] int port() const { return port_in(server_.url()); }
  [[nodiscard]] static std::string token() { return "0123456789abcdef0123456789abcdef"; }

  /// All of one question, and of any request.
  [[nodiscard]] Reply ask(std::string_view name, std::string_view body) const {
    return exchange(question(port(), token(), name, body));
  }
  [[nodiscard]] Reply get(std::string_view target) const { return exchange(request_to(port(), "GET", target)); }
  [[nodiscard]] Reply exchange(std::string_view request) const {
    RawClient client(port());
    client.send(request);
    return client.read_reply();
  }

 private:
  static StudioServerOptions options_with_token(StudioServerOptions options) {
    options.token = token();
    return options;
  }

  StudioServerOptions options_;
  StudioServer server_;
};

/// Answers with the request.
inline StudioReply echo(std::string_view /*name*/, std::string_view request, const StudioWatch& /*watch*/) {
  return {.json = std::string(request), .blocks = {}};
}

}  // namespace qkv::studio::tests
