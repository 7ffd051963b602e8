#include "access.h"

#include <arpa/inet.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

namespace qkv::studio {
namespace {

constexpr std::size_t kLongestName = 64;  // of a question

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

// Takes as long wherever the first difference is.
bool is_same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t n = 0; n < a.size(); ++n) difference |= static_cast<unsigned char>(a[n] ^ b[n]);
  return difference == 0;
}

bool is_question_name(std::string_view name) {
  const auto is_letter = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
  };
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, is_letter);
}

// "127.0.0.1", "[::1]"
bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (host.starts_with('[') && host.ends_with(']')) {
    return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), bytes.data()) == 1;
  }
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1;
}

std::string in_brackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::string_view reason_of(int status) {
  return status == 429 ? "Too Many Requests" : "Request Header Fields Too Large";
}

}  // namespace

std::string random_token() {
  std::array<std::uint8_t, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::system_error(errno, std::generic_category(), "random numbers of the system");
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (const std::uint8_t byte : bytes) {
    token += kDigits[byte >> 4U];
    token += kDigits[byte & 15U];
  }
  return token;
}

Access::Access(std::string_view host, int port, std::string token)
    : host_(in_brackets(lowered(host))),
      port_(port),
      token_(std::move(token)),
      everywhere_(host_ == "0.0.0.0" || host_ == "[::]") {}

std::string Access::url() const {
  const std::string host = host_ == "[::]" ? "[::1]" : everywhere_ ? "127.0.0.1" : host_;
  return "http://" + host + ":" + std::to_string(port_) + "/" + token_ + "/";
}

bool Access::knows_host(std::string_view host) const {
  const std::string port = ":" + std::to_string(port_);
  std::string name = lowered(host);
  if (name.ends_with(port)) {
    name.resize(name.size() - port.size());
  } else if (port_ != 80) {
    return false;
  }
  if (name == "127.0.0.1" || name == "localhost" || name == "[::1]" || name == host_) return true;
  // An address cannot be rebound; a name can.
  return everywhere_ && is_address(name);
}

Route Access::route(std::string_view target) const {
  if (!target.starts_with('/')) return {};
  const std::size_t slash = target.find('/', 1);
  if (slash == std::string_view::npos || !is_same_secret(target.substr(1, slash - 1), token_)) return {};
  const std::string_view path = target.substr(slash + 1);
  if (path.empty()) return {Place::page, {}};
  if (path == "studio.js") return {Place::script, {}};
  if (path == "studio.css") return {Place::style, {}};
  if (path == "worker.js") return {Place::worker, {}};
  if (path == "qkv.wasm") return {Place::engine, {}};
  constexpr std::string_view kModels = "models/";
  if (path.starts_with(kModels)) return {Place::model, std::string(path.substr(kModels.size()))};
  constexpr std::string_view kAsk = "ask/";
  if (!path.starts_with(kAsk) || !is_question_name(path.substr(kAsk.size()))) return {};
  return {Place::question, std::string(path.substr(kAsk.size()))};
}

bool is_loopback(std::string_view host) {
  const std::string name = in_brackets(lowered(host));
  return name == "localhost" || name == "[::1]" || (name.starts_with("127.") && is_address(name));
}

const std::vector<std::pair<std::string, std::string>>& headers_of_all() {
  static const std::vector<std::pair<std::string, std::string>> kHeaders = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
       "font-src 'self' data:; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"}};
  return kHeaders;
}

std::string bare_reply(int status) {
  std::string reply = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason_of(status)) + "\r\n";
  for (const auto& [name, value] : headers_of_all()) reply += name + ": " + value + "\r\n";
  return reply + (status == 429 ? "Retry-After: 1\r\n" : "") + "Content-Length: 0\r\nConnection: close\r\n\r\n";
}

}  // namespace qkv::studio
