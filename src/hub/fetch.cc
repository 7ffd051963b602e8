#include "qkv/hub/fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <system_error>
#include <thread>

#include "hub/hash.h"
#include "hub/listing.h"
#include "hub/partial_file.h"
#include "hub/transfer.h"

namespace qkv {
namespace {

namespace fs = std::filesystem;

using hub::Outcome;

constexpr std::size_t kMostListing = std::size_t{64} << 20;  // bytes

// That stands for itself in a name, and in an address.
bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

// "owner/name:Q4_K_M" in its parts.
struct ModelName {
  std::string model, choice;
};

// "owner/name" or "name", of what a hub allows in them, and which of its GGUF models behind a colon.
ModelName name_in(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon);
  const std::string choice = text.substr(std::min(colon + 1, text.size()));
  const auto is_allowed = [](char c) { return is_plain(c) || c == '/'; };
  const bool is_name = !name.empty() && std::ranges::all_of(name, is_allowed) && std::ranges::count(name, '/') <= 1 &&
                       name.front() != '/' && name.back() != '/' && name.find("..") == std::string::npos;
  if (is_name && choice.empty() == (colon == text.size())) return {name, choice};
  throw InvalidArgument("fetch", "name", "a model's name on the hub, such as \"owner/name\" or \"owner/name:Q4_K_M\"",
                        "\"" + text + "\"");
}

void require_hub(const std::string& address) {
  if (address.starts_with("https://") || address.starts_with("http://")) return;
  throw InvalidArgument("fetch", "hub", "an address that begins with https:// or http://", "\"" + address + "\"");
}

std::string without_slash(std::string address) {
  while (address.ends_with('/')) address.pop_back();
  return address;
}

// Of a path, or with its slashes as letters.
enum class Slashes : std::uint8_t { part, are_letters };

std::string escaped(const std::string& text, Slashes slashes) {
  std::string address;
  for (const char c : text) {
    const bool is_kept = is_plain(c) || (c == '/' && slashes == Slashes::part);
    address += is_kept ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

// Tells for what is waited; throws FetchStopped.
using Telling = std::function<void(const std::string& waiting)>;

void tell_watch(const FetchWatch& watch, const FetchProgress& at) {
  if (!watch || watch(at)) return;
  throw FetchStopped("stopped; what has come stays, and the same call goes on with it");
}

// Tries again, longer and longer, as long as nothing comes.
class Tries {
 public:
  Tries(const FetchOptions& options, Telling tell)
      : left_(options.tries), options_(options), wait_(options.patience), tell_(std::move(tell)) {}

  /// Whether to try once more, which it waits for. `why` it is needed.
  bool another(bool has_come_further, const std::string& why) {
    if (has_come_further) {
      left_ = options_.tries;
      wait_ = options_.patience;
    }
    if (--left_ <= 0) return false;
    wait(fmt::format("{}; trying again in {:.0f} s", why, wait_));
    wait_ *= 2;
    return true;
  }

 private:
  // In steps, for who watches may stop it.
  void wait(const std::string& said) const {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::duration<double> kStep{0.1};
    const Clock::time_point begin = Clock::now();
    for (;;) {
      tell_(said);
      const double left = wait_ - std::chrono::duration<double>(Clock::now() - begin).count();
      if (left <= 0) return;
      std::this_thread::sleep_for(std::min(kStep, std::chrono::duration<double>(left)));
    }
  }

  int left_;
  const FetchOptions& options_;
  double wait_;
  Telling tell_;
};

// What the library of C calls: an exception is kept until it has returned.
class Kept {
 public:
  template <class Body>
  bool operator()(const Body& body) {
    try {
      return body();
    } catch (...) {
      failed_ = std::current_exception();
      return false;
    }
  }
  void rethrow() const {
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  std::exception_ptr failed_;
};

class Fetch {
 public:
  Fetch(HubModel model, std::string folder, const FetchOptions& options, const FetchWatch& watch)
      : folder_(std::move(folder)), options_(options), watch_(watch) {
    report_.model = std::move(model);
    for (const HubFile& file : report_.model.files) total_ += file.size;
  }

  FetchReport all() {
    for (const HubFile& file : report_.model.files) {
      make_folder(fs::path(folder_ + "/" + file.name).parent_path());
      bring(file);
      here_ += file.size;
    }
    return report_;
  }

 private:
  static void make_folder(const fs::path& path) {
    std::error_code failed;
    fs::create_directories(path, failed);
    if (failed) throw FileError::saying(path.string(), "cannot write " + path.string() + ": " + failed.message());
  }

  void tell(const HubFile& file, std::int64_t done, const std::string& waiting = "") const {
    tell_watch(watch_, {.file = file.name, .done = here_ + done, .total = total_, .waiting = waiting});
  }

  void bring(const HubFile& file) {
    const std::string path = folder_ + "/" + file.name;
    tell(file, 0);
    if (hub::is_whole(path, file.size, file.hash)) {
      ++report_.was_there;
      return;
    }
    hub::PartialFile partial(folder_, file);
    if (partial.size() < file.size || file.size == 0) receive(file, partial);
    check(file, partial);
    partial.finish(path);
  }

  void receive(const HubFile& file, hub::PartialFile& partial) {
    const std::string url = fmt::format("{}/{}/resolve/{}/{}", without_slash(options_.hub), report_.model.name,
                                        report_.model.revision, escaped(file.name, Slashes::part));
    Tries tries(options_, [&](const std::string& waiting) { tell(file, partial.size(), waiting); });
    for (;;) {
      const std::int64_t before = partial.size();
      const hub::Answer answer = one_try(url, file, partial);
      const bool is_short = answer.outcome == Outcome::done && partial.size() < file.size;
      if (answer.outcome == Outcome::done && !is_short) return;
      if (partial.size() > file.size) return;  // check() says so
      if (answer.outcome == Outcome::stopped) tell(file, partial.size());
      const std::string why = is_short ? "it ended early" : answer.message;
      if (answer.outcome == Outcome::refused || !tries.another(partial.size() > before, why)) {
        throw Error(fmt::format("cannot fetch {} of {} after {} of {} bytes: {}; the same call goes on from there",
                                file.name, report_.model.name, partial.size(), file.size, why));
      }
    }
  }

  hub::Answer one_try(const std::string& url, const HubFile& file, hub::PartialFile& partial) {
    Kept kept;
    const std::int64_t before = partial.size();
    const auto take = [&](std::span<const std::byte> bytes, bool restarted) {
      return kept([&] {
        if (restarted) partial.clear();
        if (partial.size() + static_cast<std::int64_t>(bytes.size()) > file.size) {
          bytes = first_too_many(file, partial, bytes);
        }
        partial.append(bytes);
        report_.received += static_cast<std::int64_t>(bytes.size());
        tell(file, partial.size());
        return partial.size() <= file.size;
      });
    };
    const auto wait = [&] {
      return kept([&] {
        tell(file, partial.size(), partial.size() == before ? "asking for " + file.name : "");
        return true;
      });
    };
    const hub::Answer answer = hub::get(url, options_.token, partial.size(), take, wait);
    kept.rethrow();
    return answer;
  }

  // One byte more than there should be says enough.
  static std::span<const std::byte> first_too_many(const HubFile& file, const hub::PartialFile& partial,
                                                   std::span<const std::byte> bytes) {
    return bytes.first(static_cast<std::size_t>(file.size - partial.size() + 1));
  }

  void check(const HubFile& file, hub::PartialFile& partial) const {
    const std::string path = partial.path();
    if (partial.size() == file.size && hub::is_whole(path, file.size, file.hash)) return;
    const std::string got = partial.size() > file.size   ? "more bytes"
                            : partial.size() < file.size ? fmt::format("{} bytes", partial.size())
                                                         : "other bytes";
    partial.remove();
    throw Error(fmt::format("{} of {}: expected {} bytes with the hash {}, got {}; it is removed", file.name,
                            report_.model.name, file.size, file.hash, got));
  }

  std::string folder_;
  const FetchOptions& options_;
  const FetchWatch& watch_;
  FetchReport report_;
  std::int64_t here_ = 0;  // bytes of the files before this one
  std::int64_t total_ = 0;
};

}  // namespace

HubModel look_up_model(const std::string& name, const FetchOptions& options, const FetchWatch& watch) {
  const ModelName read = name_in(name);
  require_hub(options.hub);
  const std::string url = fmt::format("{}/api/models/{}/revision/{}?blobs=true", without_slash(options.hub), read.model,
                                      escaped(options.revision, Slashes::are_letters));
  const auto tell = [&](const std::string& waiting) { tell_watch(watch, {.waiting = waiting}); };
  Tries tries(options, tell);
  for (;;) {
    std::string listing;
    Kept kept;
    const auto take = [&](std::span<const std::byte> bytes, bool /*restarted*/) {
      listing.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return listing.size() <= kMostListing;
    };
    const auto wait = [&] {
      return kept([&] {
        tell("asking " + options.hub);
        return true;
      });
    };
    const hub::Answer answer = hub::get(url, options.token, 0, take, wait);
    kept.rethrow();
    if (answer.outcome == Outcome::done) {
      HubModel model = hub::parse_listing(listing, read.model, url);
      hub::choose_files(model, read.choice);
      return model;
    }
    if (answer.outcome != Outcome::failed || !tries.another(false, answer.message)) {
      const std::string why = answer.outcome == Outcome::stopped ? "the reply has no end" : answer.message;
      throw LookUpFailed(fmt::format("cannot look up {} at {}: {}", read.model, options.hub, why),
                         answer.outcome != Outcome::failed);
    }
  }
}

FetchReport fetch_model(const std::string& name, const std::string& folder, const FetchOptions& options,
                        const FetchWatch& watch) {
  HubModel model = look_up_model(name, options, watch);
  if (!model.choices.empty()) hub::refuse_choice(model, name);
  return Fetch(std::move(model), folder, options, watch).all();
}

}  // namespace qkv
