// Where clients arrive, and where they leave. One thread reads all their requests and writes what is left of their
// replies, so that none that is slow holds another up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "connection.h"
#include "share.h"

namespace qkv::studio {

struct DoorLimits {
  std::size_t visitors = 256;              // who have not sent their head, or have not gone; the oldest leaves for more
  std::size_t head_bytes = 32 << 10;       // of a request's head
  std::chrono::milliseconds head{10'000};  // until it has come
  std::chrono::milliseconds leaving{5'000};  // for a refused client to read why
  std::size_t bodies = 128 << 20;            // of all bodies that are being read or wait for an answer
};

/// A client whose request has come.
struct Arrival {
  Connection connection;
  std::string bytes;                // of the request
  std::string question = {};        // its name, where one is asked
  std::size_t body_at = 0;          // where the body begins
  Budget::Share share = {};         // of the bodies
  std::string unsent = {};          // of the reply: what the client has not taken yet
  Budget::Share unsent_share = {};  // likewise
};

/// What a request's head says of the rest.
struct Announced {
  std::size_t body_bytes = 0;  // that are waited for before the request is admitted
  std::string question = {};   // its name; empty where none is asked
  bool waits = false;          // the client sends the body once it is told to
};

class Door {
 public:
  /// `admit` takes an arrival, or leaves it be and returns false where too many wait.
  using Admit = std::function<bool(Arrival&)>;
  using Announce = std::function<Announced(std::string_view head)>;

  /// Listens at `host`, on a free port for 0. Throws InvalidArgument naming `host` or `port`.
  Door(const std::string& host, int port, const DoorLimits& limits);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door();

  [[nodiscard]] int port() const noexcept { return port_; }

  /// `announce` reads heads; a body that takes longer than `body` is not waited for.
  void open(Admit admit, Announce announce, std::chrono::milliseconds body);

  /// Ends a connection whose client may still send: closed at once, the reply would be lost with what was not read.
  void see_off(Connection connection);

  /// Writes what an arrival has not taken of its reply, as fast as it takes it, with no pause longer than `patience`.
  /// `is_whole`: all that its client sends has been read.
  void see_out(Arrival arrival, bool is_whole, std::chrono::milliseconds patience);

  /// Nobody comes in any more; who has not been admitted is gone.
  void close();

 private:
  struct Visitor {
    Connection connection;
    std::string bytes;
    Clock::time_point end;
    bool leaves = false;
    std::size_t whole = 0;  // bytes of head and body; 0: the head has not come
    Announced announced = {};
    Budget::Share share = {};
    std::string unsent = {};
    std::size_t sent = 0;
    bool is_read = false;  // of one that takes its reply
    std::chrono::milliseconds patience{0};
    Budget::Share unsent_share = {};
  };

  void run();
  void wait();
  void take_leaving();
  void drop_late();
  void accept_all();
  void welcome(int socket);
  // Whether the visitor stays.
  bool attend_to(Visitor& visitor);
  bool read_request(Visitor& visitor);
  bool has_head(Visitor& visitor, std::size_t from);
  bool begin_body(Visitor& visitor, std::size_t head_bytes);
  bool let_in(Visitor& visitor);
  bool write_on(Visitor& visitor);
  bool turn_away(Visitor& visitor, int status);
  void wake() const;

  DoorLimits limits_;
  int port_ = 0;
  Connection listening_{-1};
  Connection bell_{-1};
  Admit admit_;
  Announce announce_;
  std::chrono::milliseconds body_{0};
  Budget bodies_;
  std::vector<Visitor> visitors_;
  std::mutex mutex_;
  std::vector<Visitor> leaving_;
  std::atomic<bool> closes_ = false;
  std::thread thread_;
};

}  // namespace qkv::studio
