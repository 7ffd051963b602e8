// The studio over HTTP: pages and questions, for whoever has the address with its token. docs/studio.md says what is
// checked and what goes over the wire.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "door.h"
#include "exchange.h"
#include "pages.h"
#include "qkv/api/asking.h"

namespace qkv::studio {

/// Whether the answer takes so little that it need not wait for those that take much. Called by the one thread that
/// reads requests.
using IsLight = std::function<bool(std::string_view name, std::string_view request)>;

struct StudioServerOptions {
  std::string host = "127.0.0.1";  // address or name to listen at
  int port = 0;                    // 0: a free one
  std::string token = {};          // the first part of every path; random if empty
  std::size_t threads = 16;        // that answer
  std::size_t heavy_threads = 4;   // that answer what is_light says is not light, and give way to the others
  std::size_t waiting = 256;       // requests until one is free, of each kind; more are turned away with 429
  IsLight is_light = {};           // empty: every question is
  DoorLimits door = {};
  ExchangeLimits exchange = {};
  ReadModel read_model = {};  // of the box, for pages that take them along
};

class StudioServer {
 public:
  /// Binds the address. `ask` is called by several threads at once. Throws InvalidArgument naming `host` or `port`.
  StudioServer(Ask ask, const Pages& pages, const StudioServerOptions& options = {});
  ~StudioServer();

  /// Begins to answer, on threads of its own.
  void start();

  /// "http://127.0.0.1:PORT/TOKEN/"
  [[nodiscard]] std::string url() const;

  /// Lets nobody in any more, stops the work that is being done, and waits for its threads.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace qkv::studio
