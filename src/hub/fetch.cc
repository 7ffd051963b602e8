#include "qkv/hub/fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
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

// "owner/name" or "name", of what a hub allows in them.
void require_name(const std::string& name) {
  const auto is_allowed = [](char c) { return is_plain(c) || c == '/'; };
  const bool is_name = !name.empty() && std::ranges::all_of(name, is_allowed) && std::ranges::count(name, '/') <= 1 &&
                       name.front() != '/' && name.back() != '/' && name.find("..") == std::string::npos;
  if (is_name) return;
  throw InvalidArgument("fetch", "name", "a model's name on the hub, such as \"owner/name\"", "\"" + name + "\"");
}

void require_hub(const std::string& address) {
  if (address.starts_with("https://") || address.starts_with("http://")) return;
  throw InvalidArgument("fetch", "hub", "an address that begins with https:// or http://", "\"" + address + "\"");
}

std::string without_slash(std::string address) {
  while (address.ends_with('/')) address.pop_back();
  return address;
}

std::string escaped(const std::string& revision) {
  std::string text;
  for (const char c : revision) {
    text += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

// Tries again, longer and longer, as long as nothing comes.
class Tries {
 public:
  explicit Tries(const FetchOptions& options) : left_(options.tries), options_(options), wait_(options.patience) {}

  /// Whether to try once more, which it waits for.
  bool another(bool has_come_further) {
    if (has_come_further) {
      left_ = options_.tries;
      wait_ = options_.patience;
    }
    if (--left_ <= 0) return false;
    std::this_thread::sleep_for(std::chrono::duration<double>(wait_));
    wait_ *= 2;
    return true;
  }

 private:
  int left_;
  const FetchOptions& options_;
  double wait_;
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

  void tell(const HubFile& file, std::int64_t done) const {
    if (!watch_ || watch_({.file = file.name, .done = here_ + done, .total = total_})) return;
    throw FetchStopped("stopped; what has come stays, and the same call goes on with it");
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
                                        report_.model.revision, file.name);
    Tries tries(options_);
    for (;;) {
      const std::int64_t before = partial.size();
      const hub::Answer answer = one_try(url, file, partial);
      const bool is_short = answer.outcome == Outcome::done && partial.size() < file.size;
      if (answer.outcome == Outcome::done && !is_short) return;
      if (partial.size() > file.size) return;  // check() says so
      if (answer.outcome == Outcome::stopped) tell(file, partial.size());
      const std::string why = is_short ? "it ended early" : answer.message;
      if (answer.outcome == Outcome::refused || !tries.another(partial.size() > before)) {
        throw Error(fmt::format("cannot fetch {} of {} after {} of {} bytes: {}; the same call goes on from there",
                                file.name, report_.model.name, partial.size(), file.size, why));
      }
    }
  }

  hub::Answer one_try(const std::string& url, const HubFile& file, hub::PartialFile& partial) {
    std::exception_ptr failed;
    const auto take = [&](std::span<const std::byte> bytes, bool restarted) {
      try {
        if (restarted) partial.clear();
        if (partial.size() + static_cast<std::int64_t>(bytes.size()) > file.size) {
          bytes = first_too_many(file, partial, bytes);
        }
        partial.append(bytes);
        report_.received += static_cast<std::int64_t>(bytes.size());
        tell(file, partial.size());
        return partial.size() <= file.size;
      } catch (...) {
        failed = std::current_exception();  // not through C
        return false;
      }
    };
    const hub::Answer answer = hub::get(url, options_.token, partial.size(), take);
    if (failed) std::rethrow_exception(failed);
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

HubModel look_up_model(const std::string& name, const FetchOptions& options) {
  require_name(name);
  require_hub(options.hub);
  const std::string url = fmt::format("{}/api/models/{}/revision/{}?blobs=true", without_slash(options.hub), name,
                                      escaped(options.revision));
  Tries tries(options);
  for (;;) {
    std::string text;
    const auto take = [&](std::span<const std::byte> bytes, bool /*restarted*/) {
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return text.size() <= kMostListing;
    };
    const hub::Answer answer = hub::get(url, options.token, 0, take);
    if (answer.outcome == Outcome::done) {
      HubModel model = hub::parse_listing(text, name, url);
      model.files = hub::files_to_fetch(model);
      return model;
    }
    if (answer.outcome != Outcome::failed || !tries.another(false)) {
      const std::string why = answer.outcome == Outcome::stopped ? "the reply has no end" : answer.message;
      throw LookUpFailed(fmt::format("cannot look up {} at {}: {}", name, options.hub, why),
                         answer.outcome != Outcome::failed);
    }
  }
}

FetchReport fetch_model(const std::string& name, const std::string& folder, const FetchOptions& options,
                        const FetchWatch& watch) {
  return Fetch(look_up_model(name, options), folder, options, watch).all();
}

}  // namespace qkv
