#include "studio/raw_client.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace qkv::studio::tests {
namespace {

constexpr std::chrono::minutes kPatience{1};

int connected(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    throw std::runtime_error("no address for " + host);
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  const int socket = ::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(socket, addresses->ai_addr, addresses->ai_addrlen) != 0) {
    throw std::runtime_error("cannot connect to " + host);
  }
  ::fcntl(socket, F_SETFL, O_NONBLOCK);
  return socket;
}

std::string small(std::string text) {
  for (char& letter : text) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  return text;
}

std::map<std::string, std::string> headers_in(std::string_view head) {
  std::map<std::string, std::string> headers;
  for (std::size_t at = head.find("\r\n"); at < head.size(); at = head.find("\r\n", at)) {
    at += 2;
    const std::string_view line = head.substr(at, head.find("\r\n", at) - at);
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos) headers[small(std::string(line.substr(0, colon)))] = line.substr(colon + 2);
  }
  return headers;
}

// Whether the last chunk came.
bool join_chunks(std::string_view bytes, std::string& body) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find("\r\n");
    if (end == std::string_view::npos) return false;
    const std::size_t size = std::stoul(std::string(bytes.substr(0, end)), nullptr, 16);
    if (size == 0) return true;
    body += bytes.substr(end + 2, size);
    bytes.remove_prefix(std::min(bytes.size(), end + 2 + size + 2));
  }
  return false;
}

Reply parsed(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return {};
  Reply reply;
  reply.status = std::stoi(std::string(bytes.substr(std::strlen("HTTP/1.1 "), 3)));
  reply.headers = headers_in(bytes.substr(0, end));
  bytes.remove_prefix(end + 4);
  if (reply.headers.contains("transfer-encoding")) {
    reply.is_whole = join_chunks(bytes, reply.body);
  } else {
    reply.body = bytes;
    reply.is_whole = reply.headers["content-length"] == std::to_string(bytes.size());
  }
  return reply;
}

}  // namespace

RawClient::RawClient(int port, const std::string& host) : connection_(connected(host, port)) {}

bool RawClient::send(std::string_view bytes) { return connection_.write(bytes, kPatience); }

std::string RawClient::read_some() {
  std::array<char, 64 << 10> bytes{};
  return {bytes.data(), connection_.read_until(Clock::now() + kPatience, bytes)};
}

Reply RawClient::read_reply() {
  std::string all;
  for (std::string some = read_some(); !some.empty(); some = read_some()) all += some;
  return parsed(all);
}

std::vector<Frame> frames_of(std::string_view body) {
  std::vector<Frame> frames;
  while (!body.empty()) {
    std::array<std::uint32_t, 2> head{};
    if (body.size() < sizeof(head)) throw std::runtime_error("a frame's head is cut");
    std::memcpy(head.data(), body.data(), sizeof(head));
    const std::size_t whole = sizeof(head) + (head[1] + 7) / 8 * 8;
    if (body.size() < whole) throw std::runtime_error("a frame is cut");
    frames.push_back({head[0], std::string(body.substr(sizeof(head), head[1]))});
    body.remove_prefix(whole);
  }
  return frames;
}

std::string question(int port, std::string_view token, std::string_view name, std::string_view body) {
  const std::string host = "127.0.0.1:" + std::to_string(port);
  return "POST /" + std::string(token) + "/ask/" + std::string(name) + " HTTP/1.1\r\nHost: " + host +
         "\r\nOrigin: http://" + host +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

std::string request_to(int port, std::string_view method, std::string_view target) {
  return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
         "\r\n\r\n";
}

int port_in(const std::string& url) { return std::stoi(url.substr(url.find_last_of(':') + 1)); }

}  // namespace qkv::studio::tests
