// Replies that a page carries with it: what was asked, word for word as the page asks it, and the frames of the answer.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "file/encodings.h"
#include "qkv/api/studio.h"

namespace qkv::studio {

/// A request: its fields by name, sorted, as the page writes them.
using Request = nlohmann::json;

class Frozen {
 public:
  explicit Frozen(Studio& studio) : studio_(studio) {}

  /// Changes the blocks of a reply with this JSON.
  using EditBlocks = std::function<void(const Request& json, std::vector<std::byte>& blocks)>;
  /// Asks, unless it has been asked, and keeps the reply, its blocks as `edit` leaves them; returns its JSON. Throws as
  /// the studio does.
  Request add(std::string_view question, const Request& request, const EditBlocks& edit = nullptr);
  /// Keeps a reply that is computed already.
  void put(std::string_view question, const Request& request, StudioReply reply);
  /// The same, where what is refused is left out; false for that.
  bool add_if_answered(std::string_view question, const Request& request);

  /// What `edit` makes of the JSON of a reply that was added. Throws std::out_of_range for another.
  void change(std::string_view question, const Request& request, const std::function<void(Request&)>& edit);
  /// What the requests give for a field: the models that are shown, for "model".
  [[nodiscard]] std::set<std::string> values_of(std::string_view field) const;

  /// About as many bytes as packed() has.
  [[nodiscard]] std::size_t bytes() const noexcept { return packed_.bytes(); }
  [[nodiscard]] std::size_t size() const noexcept { return replies_.size(); }
  /// Of each reply u32 little-endian the bytes of its name and of its frame with JSON, PackedBlocks::words and the
  /// bytes of its packed_blocks(), a frame of them; then all three; gzip.
  [[nodiscard]] std::string packed() const;

 private:
  Studio& studio_;
  std::map<std::string, StudioReply> replies_;  // by the question and its request
  PackedSize packed_;
};

}  // namespace qkv::studio
