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
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::size_t kOfHead = 4 << 10;
constexpr std::size_t kSmallBody = 64 << 10;  // read even where others hold all that may be read at once

}  // namespace

Door::Door(const std::string& host, int port, const DoorLimits& limits)
    : limits_(limits),
      listening_(listen_at(host, port)),
      bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      bodies_(limits.bodies) {
  port_ = port_of(listening_);
}

Door::~Door() { close(); }

void Door::open(Admit admit, Announce announce, std::chrono::milliseconds body) {
  admit_ = std::move(admit);
  announce_ = std::move(announce);
  body_ = body;
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
    leaving_.push_back(
        {.connection = std::move(connection), .bytes = {}, .end = Clock::now() + limits_.leaving, .leaves = true});
  }
  wake();
}

void Door::see_out(Arrival arrival, bool is_whole, std::chrono::milliseconds patience) {
  Visitor visitor{.connection = std::move(arrival.connection), .bytes = {}, .end = Clock::now() + patience};
  visitor.unsent = std::move(arrival.unsent);
  visitor.unsent_share = std::move(arrival.unsent_share);
  visitor.is_read = is_whole;
  visitor.patience = patience;
  {
    const std::scoped_lock lock(mutex_);
    leaving_.push_back(std::move(visitor));
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
    // One that takes its reply is not read from: it would be polled without end.
    const short events = visitor.unsent.empty() ? POLLIN : POLLOUT;
    waited.push_back({.fd = visitor.connection.socket(), .events = events, .revents = 0});
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
  for (Visitor& visitor : leaving_) visitors_.push_back(std::move(visitor));
  leaving_.clear();
}

void Door::drop_late() {
  const auto now = Clock::now();
  std::erase_if(visitors_, [&](Visitor& visitor) {
    if (visitor.end > now) return false;
    const bool waits_for_body = visitor.whole > 0 && !visitor.leaves;
    return !waits_for_body || !turn_away(visitor, 408);
  });
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
  Visitor visitor{.connection = Connection(socket), .bytes = {}, .end = Clock::now() + limits_.head};
  if (attend_to(visitor)) visitors_.push_back(std::move(visitor));
}

bool Door::attend_to(Visitor& visitor) {
  if (!visitor.unsent.empty()) return write_on(visitor);
  if (!visitor.leaves) return read_request(visitor);
  std::array<char, 64 << 10> ignored{};
  const auto count = visitor.connection.read_now(ignored);
  return !count || *count > 0;
}

bool Door::read_request(Visitor& visitor) {
  std::array<char, 64 << 10> bytes{};
  const std::size_t room = visitor.whole == 0 ? kOfHead : std::min(bytes.size(), visitor.whole - visitor.bytes.size());
  const auto count = visitor.connection.read_now({bytes.data(), room});
  if (!count) return true;
  if (*count == 0) return false;
  const std::size_t begin = visitor.bytes.size() - std::min(visitor.bytes.size(), kEndOfHead.size() - 1);
  visitor.bytes.append(bytes.data(), *count);
  return visitor.whole == 0 ? has_head(visitor, begin) : let_in(visitor);
}

// Whether the visitor stays, now that bytes of its head have come.
bool Door::has_head(Visitor& visitor, std::size_t from) {
  const std::size_t end = visitor.bytes.find(kEndOfHead, from);
  if (end != std::string::npos) return begin_body(visitor, end + kEndOfHead.size());
  return visitor.bytes.size() < limits_.head_bytes || turn_away(visitor, 431);
}

bool Door::begin_body(Visitor& visitor, std::size_t head_bytes) {
  visitor.announced = announce_(std::string_view(visitor.bytes).substr(0, head_bytes));
  const Announced& announced = visitor.announced;
  visitor.whole = head_bytes + announced.body_bytes;
  if (announced.body_bytes > kSmallBody && !bodies_.add(visitor.share, announced.body_bytes)) {
    return turn_away(visitor, 429);
  }
  visitor.end = Clock::now() + body_;
  const bool is_there = visitor.bytes.size() >= visitor.whole;
  if (announced.waits && !is_there && !visitor.connection.write(kContinue, std::chrono::milliseconds(0))) return false;
  return let_in(visitor);
}

// Admits a visitor whose request is whole.
bool Door::let_in(Visitor& visitor) {
  if (visitor.bytes.size() < visitor.whole) return true;
  Arrival arrival{.connection = std::move(visitor.connection), .bytes = std::move(visitor.bytes)};
  arrival.question = visitor.announced.question;
  arrival.body_at = visitor.whole - visitor.announced.body_bytes;
  arrival.share = std::move(visitor.share);
  if (admit_(arrival)) return false;
  visitor.connection = std::move(arrival.connection);
  return turn_away(visitor, 429);
}

bool Door::write_on(Visitor& visitor) {
  const auto taken = visitor.connection.write_now(std::string_view(visitor.unsent).substr(visitor.sent));
  if (!taken) return false;
  if (*taken > 0) visitor.end = Clock::now() + visitor.patience;
  visitor.sent += *taken;
  if (visitor.sent < visitor.unsent.size()) return true;
  visitor.unsent = {};
  visitor.unsent_share = {};
  if (visitor.is_read) return false;
  visitor.connection.end_writing();
  visitor.leaves = true;
  visitor.end = Clock::now() + limits_.leaving;
  return true;
}

bool Door::turn_away(Visitor& visitor, int status) {
  if (!visitor.connection.write(bare_reply(status), std::chrono::milliseconds(0))) return false;
  visitor.connection.end_writing();
  visitor.leaves = true;
  visitor.end = Clock::now() + limits_.leaving;
  return true;
}

}  // namespace qkv::studio
