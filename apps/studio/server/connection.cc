#include "connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace qkv::studio {
namespace {

bool is_not_yet() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// Whether one of the events came in time.
bool comes(int socket, short events, std::chrono::milliseconds patience) {
  pollfd waited{.fd = socket, .events = events, .revents = 0};
  const Clock::time_point end = Clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    const int count = ::poll(&waited, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (count >= 0 || errno != EINTR) return count > 0;
  }
}

}  // namespace

Connection::Connection(Connection&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(socket_, other.socket_);
  return *this;
}

Connection::~Connection() {
  if (socket_ >= 0) ::close(socket_);
}

std::optional<std::size_t> Connection::read_now(std::span<char> bytes) {
  const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), 0);
  if (count < 0 && is_not_yet()) return std::nullopt;
  return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
}

std::size_t Connection::read_until(Clock::time_point end, std::span<char> bytes) {
  for (;;) {
    if (const auto count = read_now(bytes)) return *count;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0 || !comes(socket_, POLLIN, left)) return 0;
  }
}

std::optional<std::size_t> Connection::write_now(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const ssize_t count = ::send(socket_, bytes.data() + taken, bytes.size() - taken, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return is_not_yet() ? std::optional(taken) : std::nullopt;
    taken += static_cast<std::size_t>(count);
  }
  return taken;
}

bool Connection::write(std::string_view bytes, std::chrono::milliseconds patience) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && !is_not_yet()) return false;
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && !comes(socket_, POLLOUT, patience)) return false;
  }
  return true;
}

bool Connection::is_open() const {
  pollfd looked{.fd = socket_, .events = POLLRDHUP, .revents = 0};
  return ::poll(&looked, 1, 0) <= 0;
}

void Connection::end_writing() { ::shutdown(socket_, SHUT_WR); }

}  // namespace qkv::studio
