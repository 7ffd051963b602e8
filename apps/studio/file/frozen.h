// Replies that a page carries with it: what was asked, word for word as the page asks it, and the frames of the answer.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "file/encodings.h"
#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/api/studio.h"

namespace qkv::studio {

/// A request: its fields by name, as the page writes them.
using Request = NamedValues;

class Frozen {
 public:
  explicit Frozen(Studio& studio) : studio_(studio) {}

  /// Asks, unless it has been asked, and keeps the reply. Throws as the studio does.
  const AnyReply& add(std::string_view question, const Request& request);
  /// The same of a question whose reply is of this kind. Throws std::logic_error for one of another.
  template <class Reply>
  const Reply& added(std::string_view question, const Request& request) {
    return of_kind<Reply>(add(question, request), question);
  }
  /// Likewise, where what is kept is what `edit` makes of the reply.
  template <class Reply, class Edit>
  const Reply& added(std::string_view question, const Request& request, const Edit& edit) {
    if (const AnyReply* kept = find(question, request)) return of_kind<Reply>(*kept, question);
    const AnyReply whole = studio_.answer(question, request);
    return of_kind<Reply>(put(question, request, any_reply(edit(of_kind<Reply>(whole, question)))), question);
  }
  /// Keeps a reply that is computed already, in place of the one that was kept.
  const AnyReply& put(std::string_view question, const Request& request, AnyReply reply);
  /// add(), where what is refused is left out; false for that.
  bool add_if_answered(std::string_view question, const Request& request);

  /// What the requests give for a field: the models that are shown, for "model".
  [[nodiscard]] std::set<std::string> values_of(std::string_view field) const;

  /// About as many bytes as packed() has.
  [[nodiscard]] std::size_t bytes() const noexcept { return packed_.bytes(); }
  [[nodiscard]] std::size_t size() const noexcept { return replies_.size(); }
  /// Of each reply u32 little-endian the bytes of its name and of its frame with JSON, PackedBlocks::words and the
  /// bytes of its packed_blocks(), a frame of them; then all three; gzip.
  [[nodiscard]] std::string packed() const;

 private:
  struct Kept {
    Request request;
    AnyReply reply;
    std::string entry;  // as packed() has it
  };

  template <class Reply>
  static const Reply& of_kind(const AnyReply& reply, std::string_view question) {
    const auto* const typed = reply.as<Reply>();
    if (typed == nullptr) refuse_kind(question);
    return *typed;
  }
  [[noreturn]] static void refuse_kind(std::string_view question);

  [[nodiscard]] const AnyReply* find(std::string_view question, const Request& request) const;

  Studio& studio_;
  std::map<std::string, Kept> replies_;  // by the question and its request
  PackedSize packed_;
};

/// The first fields, and the second ones in their place where both have them.
[[nodiscard]] Request with(Request request, const Request& others);

}  // namespace qkv::studio
