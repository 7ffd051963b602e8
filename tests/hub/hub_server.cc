#include "hub/hub_server.h"

#include <httplib.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "hub/hash.h"

namespace qkv::tests {

struct HubServer::State {
  struct File {
    std::string bytes;
    bool is_large = false;
  };
  std::map<std::string, File> files;
  std::vector<std::string> requests;
  std::vector<std::string> authorisations;
  mutable std::mutex mutex;
  httplib::Server server;
  int port = 0;
  std::thread thread;
};

namespace {

constexpr const char* kRevision = "0123456789abcdef0123456789abcdef01234567";

std::string hash_of(const std::string& bytes, bool is_large) {
  hub::FileHash hash(std::string(is_large ? 64 : 40, '0'), static_cast<std::int64_t>(bytes.size()));
  hash.add(std::as_bytes(std::span(bytes)));
  return hash.digits();
}

std::size_t begin_of(const httplib::Request& request) {
  return request.ranges.empty() ? 0 : static_cast<std::size_t>(request.ranges.front().first);
}

}  // namespace

HubServer::HubServer() : state_(std::make_unique<State>()) {
  state_->server.Get("/api/models/owner/small/revision/(.*)", [this](const auto& request, auto& response) {
    const std::scoped_lock lock(state_->mutex);
    if (faults.busy > 0) {
      --faults.busy;
      response.status = 503;
      return;
    }
    if (!faults.token.empty() && request.get_header_value("Authorization") != "Bearer " + faults.token) {
      response.status = 401;
      return;
    }
    if (request.matches[1] != "main" && request.matches[1] != kRevision) {
      response.status = 404;
      return;
    }
    nlohmann::json reply{{"sha", kRevision}, {"siblings", nlohmann::json::array()}};
    for (const auto& [name, file] : state_->files) {
      const std::string hash = hash_of(file.bytes, file.is_large);
      nlohmann::json entry{{"rfilename", name}, {"size", file.bytes.size()}, {"blobId", std::string(40, 'a')}};
      if (file.is_large) {
        entry["lfs"] = {{"sha256", hash}, {"size", file.bytes.size()}};
      } else {
        entry["blobId"] = hash;
      }
      reply["siblings"].push_back(entry);
    }
    response.set_content(faults.listing.empty() ? reply.dump() : faults.listing, "application/json");
  });
  state_->server.Get("/owner/small/resolve/([0-9a-f]+)/(.*)", [this](const auto& request, auto& response) {
    const std::scoped_lock lock(state_->mutex);
    const std::string name = request.matches[2];
    const std::size_t begin = begin_of(request);
    state_->requests.push_back(begin == 0 ? name : name + " from " + std::to_string(begin));
    state_->authorisations.push_back(request.get_header_value("Authorization"));
    if (!faults.elsewhere.empty()) {
      response.set_redirect(faults.elsewhere + request.path);
      return;
    }
    if (faults.busy > 0) {
      --faults.busy;
      response.status = 503;
      return;
    }
    const auto found = state_->files.find(name);
    if (found == state_->files.end()) {
      response.status = 404;
      return;
    }
    std::string bytes = found->second.bytes;
    if (faults.damages) bytes.back() = static_cast<char>(bytes.back() + 1);
    if (faults.adds) bytes += '!';
    const bool is_part = begin > 0 && !faults.ignores_ranges;
    if (!is_part) const_cast<httplib::Request&>(request).ranges.clear();
    if (faults.cut > 0 && static_cast<std::int64_t>(bytes.size()) > faults.cut_after) {
      --faults.cut;
      const std::size_t end = std::min(bytes.size(), begin + static_cast<std::size_t>(faults.cut_after));
      const_cast<httplib::Request&>(request).ranges.clear();
      response.status = is_part ? 206 : 200;
      const std::size_t length = bytes.size() - (is_part ? begin : 0);
      std::string part = bytes.substr(is_part ? begin : 0, end - begin);
      response.set_content_provider(length, "application/octet-stream",
                                    [part](std::size_t at, std::size_t, httplib::DataSink& sink) {
                                      if (at >= part.size()) return false;  // hangs up
                                      sink.write(part.data() + at, part.size() - at);
                                      return true;
                                    });
      return;
    }
    response.set_content(bytes, "application/octet-stream");
  });
  state_->port = state_->server.bind_to_any_port("127.0.0.1");
  state_->thread = std::thread([this] { state_->server.listen_after_bind(); });
  while (!state_->server.is_running()) std::this_thread::yield();
}

HubServer::~HubServer() {
  state_->server.stop();
  state_->thread.join();
}

std::string HubServer::address() const { return "http://127.0.0.1:" + std::to_string(state_->port); }

void HubServer::add(const std::string& name, const std::string& bytes, bool is_large) {
  state_->files[name] = {.bytes = bytes, .is_large = is_large};
}

std::vector<std::string> HubServer::requests() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->requests;
}

std::vector<std::string> HubServer::authorisations() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->authorisations;
}

}  // namespace qkv::tests
