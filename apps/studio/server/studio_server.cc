#include "studio_server.h"

#include <atomic>
#include <new>
#include <string_view>
#include <utility>

#include "access.h"
#include "workers.h"

namespace qkv::studio {

struct StudioServer::State {
  State(Ask ask, const Pages& pages, const StudioServerOptions& options)
      : door(options.host, options.port, options.door),
        unsent(options.exchange.unsent),
        service{.ask = std::move(ask),
                .pages = pages,
                .read_model = options.read_model,
                .access = Access(options.host, door.port(), options.token.empty() ? random_token() : options.token),
                .limits = options.exchange,
                .closes = [this] { return closes.load(); },
                .unsent = &unsent},
        is_light(options.is_light),
        workers({.threads = options.threads, .waiting = options.waiting, .gives_way = false},
                [this](Arrival arrival) { answer(std::move(arrival)); }),
        heavy({.threads = options.heavy_threads, .waiting = options.waiting, .gives_way = true},
              [this](Arrival arrival) { answer(std::move(arrival)); }) {}

  bool admit(Arrival& arrival) {
    const bool waits_for_none = !is_light || arrival.question.empty() || is_light_one(arrival);
    return (waits_for_none ? workers : heavy).offer(arrival);
  }

  [[nodiscard]] bool is_light_one(const Arrival& arrival) const {
    constexpr std::size_t kLong = 64 << 10;
    const auto body = std::string_view(arrival.bytes).substr(arrival.body_at);
    return body.size() <= kLong && is_light(arrival.question, body);
  }

  void answer(Arrival arrival) {
    if (!arrival.connection.is_open()) return;  // gave up while it waited
    try {
      const bool is_whole = exchange(service, arrival);
      if (!arrival.unsent.empty()) return door.see_out(std::move(arrival), is_whole, service.limits.writing);
      if (!is_whole) door.see_off(std::move(arrival.connection));
    } catch (const std::bad_alloc&) {
      return;  // the client sees its connection end
    }
  }

  std::atomic<bool> closes = false;
  Door door;
  Budget unsent;
  Service service;
  IsLight is_light;
  Workers workers;
  Workers heavy;
};

StudioServer::StudioServer(Ask ask, const Pages& pages, const StudioServerOptions& options)
    : state_(std::make_unique<State>(std::move(ask), pages, options)) {}

StudioServer::~StudioServer() { stop(); }

void StudioServer::start() {
  state_->door.open([this](Arrival& arrival) { return state_->admit(arrival); },
                    [this](std::string_view head) { return announced_by(state_->service, head); },
                    state_->service.limits.body);
}

std::string StudioServer::url() const { return state_->service.access.url(); }

void StudioServer::stop() {
  state_->closes = true;
  state_->heavy.stop();
  state_->workers.stop();
  state_->door.close();
}

}  // namespace qkv::studio
