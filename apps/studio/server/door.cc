#include "door.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

#include "access.h"
#include "listen.h"

namespace qkv::studio {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

}  // namespace

Door::Door(const std::string& host, int port, const DoorLimits& limits)
    : limits_(limits), listening_(listen_at(host, port)), bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  port_ = port_of(listening_);
}

Door::~Door() { close(); }

void Door::open(Admit admit) {
  admit_ = std::move(admit);
  thread_ = std::thread([this] { run(); });
}

void Door::close() {
  closes_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
  listening_ = Connection(-1);
}

void Door::wake() const {
  const std::uint64_t one = 1;
  if (::write(bell_.socket(), &one, sizeof(one)) < 0) return;  // it rings already
}

void Door::see_off(Connection connection) {
  connection.end_writing();
  {
    const std::scoped_lock lock(mutex_);
    leaving_.push_back(std::move(connection));
  }
  wake();
}

void Door::run() {
  while (!closes_) {
    wait();
    take_leaving();
    std::erase_if(visitors_, [this](Visitor& visitor) { return !attend_to(visitor); });
    drop_late();
    accept_all();
  }
  visitors_.clear();
}

void Door::wait() {
  std::vector<pollfd> waited = {{.fd = listening_.socket(), .events = POLLIN, .revents = 0},
                                {.fd = bell_.socket(), .events = POLLIN, .revents = 0}};
  auto end = Clock::time_point::max();
  for (const Visitor& visitor : visitors_) {
    waited.push_back({.fd = visitor.connection.socket(), .events = POLLIN, .revents = 0});
    end = std::min(end, visitor.end);
  }
  int patience = -1;
  if (!visitors_.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    patience = static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }
  ::poll(waited.data(), waited.size(), patience);
  std::uint64_t rung = 0;
  if (::read(bell_.socket(), &rung, sizeof(rung)) < 0) return;  // it did not ring
}

void Door::take_leaving() {
  const std::scoped_lock lock(mutex_);
  for (Connection& connection : leaving_) {
    visitors_.push_back({std::move(connection), {}, Clock::now() + limits_.leaving, true});
  }
  leaving_.clear();
}

void Door::drop_late() {
  const auto now = Clock::now();
  std::erase_if(visitors_, [now](const Visitor& visitor) { return visitor.end <= now; });
  // Whoever is quick has been admitted long ago.
  const std::size_t count = visitors_.size();
  if (count > limits_.visitors) {
    visitors_.erase(visitors_.begin(), visitors_.begin() + static_cast<std::ptrdiff_t>(count - limits_.visitors));
  }
}

void Door::accept_all() {
  // A few at a time: those who are here are looked after in between.
  constexpr int kAtOnce = 64;
  for (int n = 0; n < kAtOnce; ++n) {
    const int socket = ::accept4(listening_.socket(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
      welcome(socket);
      continue;
    }
    if (errno == ECONNABORTED || errno == EINTR) continue;
    // Without descriptors or memory nobody can be let in: those who leave give some back.
    if (errno != EAGAIN) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return;
  }
}

void Door::welcome(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  Visitor visitor{Connection(socket), {}, Clock::now() + limits_.head};
  if (attend_to(visitor)) visitors_.push_back(std::move(visitor));
}

bool Door::attend_to(Visitor& visitor) {
  if (!visitor.leaves) return read_head(visitor);
  std::array<char, 64 << 10> ignored{};
  const auto count = visitor.connection.read_now(ignored);
  return !count || *count > 0;
}

bool Door::read_head(Visitor& visitor) {
  std::array<char, 4 << 10> bytes{};
  const auto count = visitor.connection.read_now(bytes);
  if (!count) return true;
  if (*count == 0) return false;
  const std::size_t begin = visitor.bytes.size() - std::min(visitor.bytes.size(), kEndOfHead.size() - 1);
  visitor.bytes.append(bytes.data(), *count);
  if (visitor.bytes.find(kEndOfHead, begin) == std::string::npos) {
    return visitor.bytes.size() < limits_.head_bytes || turn_away(visitor, 431);
  }
  Arrival arrival{std::move(visitor.connection), std::move(visitor.bytes)};
  if (admit_(arrival)) return false;
  visitor.connection = std::move(arrival.connection);
  return turn_away(visitor, 429);
}

bool Door::turn_away(Visitor& visitor, int status) {
  if (!visitor.connection.write(bare_reply(status), std::chrono::milliseconds(0))) return false;
  visitor.connection.end_writing();
  visitor.leaves = true;
  visitor.end = Clock::now() + limits_.leaving;
  return true;
}

}  // namespace qkv::studio
