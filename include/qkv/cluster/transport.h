// Ranks that exchange bytes: what attention and training over several machines stand on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/error.h"

namespace qkv {

/// A rank is lost, has given up or says something else than the others. what() names the rank and its host.
class ClusterError : public Error {
 public:
  using Error::Error;
};

/// A message on its way, from isend() or irecv(). Its bytes must stay where they are until test() or wait() says that
/// it has arrived, or until it is destroyed, which takes back a message that has not.
class Transfer {
 public:
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  virtual ~Transfer() = default;

  /// The other side.
  [[nodiscard]] int peer() const noexcept { return peer_; }
  /// "4,096 bytes of tag 3"
  [[nodiscard]] std::string text() const;

 protected:
  Transfer(int peer, int tag, std::size_t bytes) : peer_(peer), tag_(tag), bytes_(bytes) {}

 private:
  friend class Transport;
  /// True if its bytes may be used again. Throws ClusterError where the two sides name different sizes.
  virtual bool has_arrived() = 0;
  /// Returns when has_arrived() may be true, and after some milliseconds.
  virtual void look_out() = 0;

  int peer_;
  int tag_;
  std::size_t bytes_;
};

/// What a rank has sent.
struct Sent {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

/// One rank's place among `size()` of them. Used by one thread at a time. Messages from one rank to another with the
/// same tag arrive in the order in which they were sent.
///
/// Every wait has an end: it throws ClusterError, and all other ranks' waits throw the same, if the other side gives
/// up, ends without sending, or gives no sign of life for longer than patience(). A rank that computes gives one with
/// each progress(); it may take as long as it likes. After such an error a transport is of no more use.
class Transport {
 public:
  static constexpr int kMostTag = 1 << 20;

  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(hosts_.size()); }
  /// The machine that a rank runs on.
  [[nodiscard]] const std::string& host(int rank) const;
  /// "rank 2 (node7)"
  [[nodiscard]] std::string name_of(int rank) const;
  /// How long another rank may give no sign of life.
  [[nodiscard]] std::chrono::milliseconds patience() const noexcept { return patience_; }

  /// Starts a message to or from another rank. Tags are 0 to kMostTag; both sides name the same number of bytes, which
  /// may be 0. Throws InvalidArgument naming to, from or tag. May copy the bytes of a small message.
  [[nodiscard]] std::unique_ptr<Transfer> isend(int to, int tag, std::span<const std::byte> bytes);
  [[nodiscard]] std::unique_ptr<Transfer> irecv(int from, int tag, std::span<std::byte> bytes);
  /// True if the transfer has arrived. Does not wait. Throws ClusterError.
  [[nodiscard]] bool test(Transfer& transfer);
  /// Returns when the transfer has arrived.
  void wait(Transfer& transfer);

  /// Tells the others that this rank lives. To be called between pieces of work that take less than patience().
  /// Throws ClusterError if a rank has given up.
  void progress();
  /// Ends every other rank's next wait with an error that names this rank and the reason.
  void give_up(std::string_view reason) noexcept;

  /// For small messages: all ranks call them in the same order, and all take as many steps as a binary tree is deep.
  void barrier();
  /// `bytes` of the root on every rank.
  void broadcast(int root, std::vector<std::byte>& bytes);
  /// The bytes of every rank, in the order of ranks, on the root; none elsewhere. They may differ in length.
  [[nodiscard]] std::vector<std::vector<std::byte>> gather(int root, std::span<const std::byte> bytes);

  /// Of this rank, with the small messages.
  [[nodiscard]] const Sent& sent() const noexcept { return sent_; }

 protected:
  Transport(int rank, std::vector<std::string> hosts, std::chrono::milliseconds patience);

 private:
  virtual std::unique_ptr<Transfer> start_send(int to, int tag, std::span<const std::byte> bytes) = 0;
  virtual std::unique_ptr<Transfer> start_receive(int from, int tag, std::span<std::byte> bytes) = 0;
  /// Gives a sign of life, and says what this rank does now.
  virtual void live(std::string_view doing) = 0;
  /// Why a rank gave up, in words that name it; empty if none did.
  virtual std::string failure() = 0;
  virtual void fail(const std::string& why) noexcept = 0;
  [[nodiscard]] virtual std::chrono::milliseconds silence_of(int rank) = 0;
  /// True if the rank has ended and sends nothing more.
  [[nodiscard]] virtual bool has_ended(int rank) = 0;

  void require_rank(std::string_view function, std::string_view argument, int rank) const;
  void require_other(std::string_view function, std::string_view argument, int rank) const;
  void require_tag(std::string_view function, int tag) const;
  void send_sized(int to, int tag, std::span<const std::byte> bytes);
  [[nodiscard]] std::vector<std::byte> receive_sized(int from, int tag);
  [[noreturn]] void fail_and_throw(const std::string& why);
  void throw_failure();

  int rank_;
  std::vector<std::string> hosts_;
  std::chrono::milliseconds patience_;
  Sent sent_;
};

}  // namespace qkv
