// Where clients arrive. One thread reads the heads of all their requests, so that none that is slow holds another up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "connection.h"

namespace qkv::studio {

struct DoorLimits {
  std::size_t visitors = 256;              // who have not sent their head, or have not gone; the oldest leaves for more
  std::size_t head_bytes = 32 << 10;       // of a request's head
  std::chrono::milliseconds head{10'000};  // until it has come
  std::chrono::milliseconds leaving{5'000};  // for a refused client to read why
};

/// A client whose request's head has come.
struct Arrival {
  Connection connection;
  std::string bytes;  // read so far: the head, and what came with it
};

class Door {
 public:
  /// `admit` takes an arrival, or leaves it be and returns false where too many wait.
  using Admit = std::function<bool(Arrival&)>;

  /// Listens at `host`, on a free port for 0. Throws InvalidArgument naming `host` or `port`.
  Door(const std::string& host, int port, const DoorLimits& limits);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door();

  [[nodiscard]] int port() const noexcept { return port_; }

  void open(Admit admit);

  /// Ends a connection whose client may still send: closed at once, the reply would be lost with what was not read.
  void see_off(Connection connection);

  /// Nobody comes in any more; who has not been admitted is gone.
  void close();

 private:
  struct Visitor {
    Connection connection;
    std::string bytes;
    Clock::time_point end;
    bool leaves = false;
  };

  void run();
  void wait();
  void take_leaving();
  void drop_late();
  void accept_all();
  void welcome(int socket);
  // Whether the visitor stays.
  bool attend_to(Visitor& visitor);
  bool read_head(Visitor& visitor);
  bool turn_away(Visitor& visitor, int status);
  void wake() const;

  DoorLimits limits_;
  int port_ = 0;
  Connection listening_{-1};
  Connection bell_{-1};
  Admit admit_;
  std::vector<Visitor> visitors_;
  std::mutex mutex_;
  std::vector<Connection> leaving_;
  std::atomic<bool> closes_ = false;
  std::thread thread_;
};

}  // namespace qkv::studio
