// One connection of a client. No call blocks for longer than it is told.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace qkv::studio {

using Clock = std::chrono::steady_clock;

class Connection {
 public:
  /// Takes over an open socket that does not block, and closes it in the end.
  explicit Connection(int socket) noexcept : socket_(socket) {}
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection();

  [[nodiscard]] int socket() const noexcept { return socket_; }

  /// How many bytes came; 0 once the client has ended or is gone; nothing while there is nothing yet.
  [[nodiscard]] std::optional<std::size_t> read_now(std::span<char> bytes);

  /// The same, and waits for bytes; 0 too if none has come by then.
  [[nodiscard]] std::size_t read_until(Clock::time_point end, std::span<char> bytes);

  /// How many of the bytes were taken at once; nothing once the client is gone.
  [[nodiscard]] std::optional<std::size_t> write_now(std::string_view bytes);

  /// Whether all bytes were taken, with no pause longer than `patience` between them.
  [[nodiscard]] bool write(std::string_view bytes, std::chrono::milliseconds patience);

  /// Whether the client still listens. One that has only ended its own side counts as gone: no browser does that.
  [[nodiscard]] bool is_open() const;

  /// The client sees the end of the reply.
  void end_writing();

 private:
  int socket_ = -1;
};

}  // namespace qkv::studio
