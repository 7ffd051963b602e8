// Who may ask: the token in the path, the Host and the Origin of a request; and the headers of every reply.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qkv::studio {

/// 128 random bits in 32 hexadecimal digits.
[[nodiscard]] std::string random_token();

enum class Place : std::uint8_t { nowhere, page, script, style, worker, engine, model, question };

struct Route {
  Place place = Place::nowhere;
  std::string name;  // of a question or a model
};

class Access {
 public:
  Access(std::string_view host, int port, std::string token);

  /// "http://127.0.0.1:8080/TOKEN/"
  [[nodiscard]] std::string url() const;

  /// Whether a Host header names this server. Names of others stand for this address only where somebody rebound them.
  [[nodiscard]] bool knows_host(std::string_view host) const;

  /// Where a request's target leads; nowhere without the token.
  [[nodiscard]] Route route(std::string_view target) const;

 private:
  std::string host_;  // in brackets if it has colons
  int port_;
  std::string token_;
  bool everywhere_;  // listens at all addresses
};

/// Whether a host is reached from this machine only.
[[nodiscard]] bool is_loopback(std::string_view host);

/// The headers that keep a page to this server's own scripts.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& headers_of_all();

/// A whole reply without a body, for a request that was not read.
[[nodiscard]] std::string bare_reply(int status);

}  // namespace qkv::studio
