#include "studio_server.h"

#include <atomic>
#include <new>
#include <utility>

#include "access.h"
#include "workers.h"

namespace qkv::studio {

struct StudioServer::State {
  State(Ask ask, const Pages& pages, const StudioServerOptions& options)
      : door(options.host, options.port, options.door),
        service{.ask = std::move(ask),
                .pages = pages,
                .read_model = options.read_model,
                .access = Access(options.host, door.port(), options.token.empty() ? random_token() : options.token),
                .limits = options.exchange,
                .closes = [this] { return closes.load(); }},
        workers(options.threads, options.waiting, [this](Arrival arrival) { answer(std::move(arrival)); }) {}

  void answer(Arrival arrival) {
    if (!arrival.connection.is_open()) return;  // gave up while it waited
    try {
      if (!exchange(service, arrival)) door.see_off(std::move(arrival.connection));
    } catch (const std::bad_alloc&) {
      return;  // the client sees its connection end
    }
  }

  std::atomic<bool> closes = false;
  Door door;
  Service service;
  Workers workers;
};

StudioServer::StudioServer(Ask ask, const Pages& pages, const StudioServerOptions& options)
    : state_(std::make_unique<State>(std::move(ask), pages, options)) {}

StudioServer::~StudioServer() { stop(); }

void StudioServer::start() {
  state_->door.open([this](Arrival& arrival) { return state_->workers.offer(arrival); });
}

std::string StudioServer::url() const { return state_->service.access.url(); }

void StudioServer::stop() {
  state_->closes = true;
  state_->workers.stop();
  state_->door.close();
}

}  // namespace qkv::studio
