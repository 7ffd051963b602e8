// A hub on loopback, whose faults a test chooses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace qkv::tests {

class HubServer {
 public:
  HubServer();
  HubServer(const HubServer&) = delete;
  HubServer& operator=(const HubServer&) = delete;
  ~HubServer();

  /// "http://127.0.0.1:40123"
  [[nodiscard]] std::string address() const;
  /// The file of the one model, "owner/small". Large files have a SHA-256, others git's hash.
  void add(const std::string& name, const std::string& bytes, bool is_large = false);

  /// What goes wrong. Counts go down by one with each.
  struct Faults {
    int busy = 0;                 // answers 503
    int cut = 0;                  // files that end after `cut_after` bytes of what was asked
    std::int64_t cut_after = 0;   // bytes
    bool ignores_ranges = false;  // sends the whole file with 200
    bool damages = false;         // changes the last byte
    bool adds = false;            // sends a byte more than the file has
    std::string token = {};       // without which it answers 401
    std::string elsewhere = {};   // a host to which files are redirected
    std::string listing = {};     // said instead of the model's
  };
  Faults faults;

  /// Requests of files so far: "config.json", "model.safetensors from 100".
  [[nodiscard]] std::vector<std::string> requests() const;
  /// The Authorization of each of these requests; empty without.
  [[nodiscard]] std::vector<std::string> authorisations() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace qkv::tests
