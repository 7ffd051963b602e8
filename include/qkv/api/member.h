// What a reply holds, described once: from it come its JSON, its binary tensors, docs/api.md and the TypeScript types.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "qkv/tensor.h"

namespace qkv {

struct ReplyMember;

/// Values by names that the reply itself brings: as JSON {"name": value, …}, in their order.
template <class Value>
using Named = std::vector<std::pair<std::string, Value>>;

/// The type of a value of a reply. A list, values by name and a nullable have their element's type in `of`, an object
/// its name and members.
struct ReplyType {
  enum class Kind : std::uint8_t { flag, whole, number, text, tensor, list, named, nullable, object };
  Kind kind = Kind::text;
  std::string name = {};
  std::vector<ReplyType> of = {};
  std::vector<ReplyMember> members;  // Clang takes no `= {}` of what is not yet whole
};

struct ReplyMember {
  std::string name;
  std::string meaning;  // a phrase, with its unit
  ReplyType type;
  bool may_lack = false;  // left out where there is none
};

/// Takes a reply's values one after the other.
class ReplyWriter {
 public:
  ReplyWriter() = default;
  ReplyWriter(const ReplyWriter&) = delete;
  ReplyWriter& operator=(const ReplyWriter&) = delete;
  virtual ~ReplyWriter() = default;

  virtual void begin_object() = 0;
  virtual void key(std::string_view name) = 0;
  virtual void end_object() = 0;
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
  virtual void nothing() = 0;
  virtual void value(bool flag) = 0;
  virtual void value(std::int64_t whole) = 0;
  virtual void value(std::uint64_t whole) = 0;
  /// What is not finite has no number in JSON and is written as nothing().
  virtual void value(double number) = 0;
  /// As text with the digits of a float alone.
  virtual void value(float number) { value(static_cast<double>(number)); }
  virtual void value(std::string_view text) = 0;
  virtual void value(const Tensor& tensor) = 0;
};

template <class Reply>
class Members;

/// The members of a reply, which has `Members<Reply> describe(const Reply*)` in its namespace.
template <class Reply>
[[nodiscard]] const Members<Reply>& members_of() {
  static const Members<Reply> kMembers = describe(static_cast<const Reply*>(nullptr));
  return kMembers;
}

namespace api_detail {

template <class Value>
inline constexpr bool kIsList = false;
template <class Value>
inline constexpr bool kIsList<std::vector<Value>> = true;
template <class Value>
inline constexpr bool kIsNamed = false;
template <class Value>
inline constexpr bool kIsNamed<Named<Value>> = true;
template <class Value>
inline constexpr bool kIsNullable = false;
template <class Value>
inline constexpr bool kIsNullable<std::optional<Value>> = true;

[[nodiscard]] ReplyType type_of_kind(ReplyType::Kind kind);
[[nodiscard]] ReplyType type_of_kind(ReplyType::Kind kind, ReplyType element);

template <class Value>
ReplyType reply_type() {
  using Kind = ReplyType::Kind;
  if constexpr (std::is_same_v<Value, bool>) {
    return type_of_kind(Kind::flag);
  } else if constexpr (std::is_integral_v<Value>) {
    return type_of_kind(Kind::whole);
  } else if constexpr (std::is_floating_point_v<Value>) {
    return type_of_kind(Kind::number);
  } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
    return type_of_kind(Kind::text);
  } else if constexpr (std::is_same_v<Value, Tensor>) {
    return type_of_kind(Kind::tensor);
  } else if constexpr (kIsNamed<Value>) {
    return type_of_kind(Kind::named, reply_type<typename Value::value_type::second_type>());
  } else if constexpr (kIsList<Value>) {
    return type_of_kind(Kind::list, reply_type<typename Value::value_type>());
  } else if constexpr (kIsNullable<Value>) {
    return type_of_kind(Kind::nullable, reply_type<typename Value::value_type>());
  } else {
    return members_of<Value>().type();
  }
}

template <class Value>
void write_value(ReplyWriter& writer, const Value& value) {
  if constexpr (std::is_same_v<Value, bool> || std::is_same_v<Value, Tensor> || std::is_same_v<Value, std::uint64_t> ||
                std::is_same_v<Value, float>) {
    writer.value(value);
  } else if constexpr (std::is_integral_v<Value>) {
    writer.value(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_floating_point_v<Value>) {
    writer.value(static_cast<double>(value));
  } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
    writer.value(std::string_view(value));
  } else if constexpr (kIsNamed<Value>) {
    writer.begin_object();
    for (const auto& [name, element] : value) {
      writer.key(name);
      write_value(writer, element);
    }
    writer.end_object();
  } else if constexpr (kIsList<Value>) {
    writer.begin_list();
    for (const auto& element : value) write_value(writer, element);
    writer.end_list();
  } else if constexpr (kIsNullable<Value>) {
    value ? write_value(writer, *value) : writer.nothing();
  } else {
    members_of<Value>().write(writer, &value);
  }
}

}  // namespace api_detail

/// The members of a reply of some kind: where their values lie, counted in bytes from its begin, and who writes them.
class MemberTable {
 public:
  [[nodiscard]] const ReplyType& type() const noexcept { return type_; }
  void write(ReplyWriter& writer, const void* reply) const;

 protected:
  using Write = void (*)(ReplyWriter&, const void* value);
  using IsThere = bool (*)(const void* value);

  explicit MemberTable(std::string name);
  /// One with `is_there` is left out where that says no.
  void add(std::string_view name, std::string_view meaning, ReplyType of, std::ptrdiff_t offset, Write write,
           IsThere is_there = nullptr);
  /// The same, of the type that `of` gives: the many that call this are quicker to compile.
  void add(std::string_view name, std::string_view meaning, ReplyType (*of)(), std::ptrdiff_t offset, Write write,
           IsThere is_there = nullptr);
  void add(const MemberTable& part, std::ptrdiff_t offset);

 private:
  struct Place {
    std::ptrdiff_t offset;
    Write write;
    IsThere is_there;
  };
  ReplyType type_;
  std::vector<Place> places_;
};

namespace api_detail {

// Of each kind of value once, for all members that have it.
template <class Value>
void write_at(ReplyWriter& writer, const void* value) {
  write_value(writer, *static_cast<const Value*>(value));
}

template <class Value>
bool is_there_at(const void* value) {
  if constexpr (kIsNullable<Value>) {
    return static_cast<const Value*>(value)->has_value();
  } else {
    return !static_cast<const Value*>(value)->empty();
  }
}

template <class Value>
ReplyType reply_type_if_there() {
  if constexpr (kIsNullable<Value>) {
    return reply_type<typename Value::value_type>();
  } else {
    return reply_type<Value>();
  }
}

}  // namespace api_detail

/// The members of one kind of reply, in the order in which they are written.
template <class Reply>
class Members : public MemberTable {
 public:
  explicit Members(std::string name) : MemberTable(std::move(name)) {}

  template <class Value>
  Members& add(Value Reply::* place, std::string_view name, std::string_view meaning) {
    MemberTable::add(name, meaning, api_detail::reply_type<Value>, offset_of(&(plain_.*place)),
                     api_detail::write_at<Value>);
    return *this;
  }

  /// An optional, a list or a text that is left out where it is empty.
  template <class Value>
  Members& add_if_there(Value Reply::* place, std::string_view name, std::string_view meaning) {
    MemberTable::add(name, meaning, api_detail::reply_type_if_there<Value>, offset_of(&(plain_.*place)),
                     api_detail::write_at<Value>, api_detail::is_there_at<Value>);
    return *this;
  }

  /// `cautions`, left out where there are none.
  Members& add_cautions() { return add_if_there(&Reply::cautions, "cautions", "What its reader has to know"); }

  /// Those of a part that the reply is made from.
  template <class Base>
  Members& add(const Members<Base>& base) {
    MemberTable::add(base, offset_of(static_cast<const Base*>(&plain_)));
    return *this;
  }

  /// A list of the same kind of reply: its type is the name alone, which stands for these members.
  Members& add_own(std::vector<Reply> Reply::* place, std::string_view name, std::string_view meaning) {
    ReplyType own = api_detail::type_of_kind(ReplyType::Kind::object);
    own.name = type().name;
    MemberTable::add(name, meaning, api_detail::type_of_kind(ReplyType::Kind::list, std::move(own)),
                     offset_of(&(plain_.*place)), api_detail::write_at<std::vector<Reply>>);
    return *this;
  }

 private:
  [[nodiscard]] std::ptrdiff_t offset_of(const void* value) const {
    return static_cast<const char*>(value) - reinterpret_cast<const char*>(&plain_);
  }

  Reply plain_ = {};
};

/// A reply that has a place for what its reader has to know: `std::vector<std::string> cautions`.
template <class Reply>
concept HasCautions = std::same_as<decltype(Reply::cautions), std::vector<std::string>>;

namespace api_detail {

/// What is done with a reply of which nobody knows the kind.
struct ReplyKind {
  void (*write)(ReplyWriter& writer, const void* reply);
  void (*caution)(void* reply, const std::vector<std::string>& cautions);  // null: it has no place for them
};

template <class Reply>
void caution_at(void* reply, const std::vector<std::string>& cautions) {
  if constexpr (kIsList<Reply>) {
    for (auto& one : *static_cast<Reply*>(reply)) caution_at<typename Reply::value_type>(&one, cautions);
  } else {
    auto& all = static_cast<Reply*>(reply)->cautions;
    all.insert(all.end(), cautions.begin(), cautions.end());
  }
}

template <class Reply>
inline constexpr bool kTakesCautions = HasCautions<Reply>;
template <class Reply>
inline constexpr bool kTakesCautions<std::vector<Reply>> = HasCautions<Reply>;

template <class Reply>
constexpr ReplyKind reply_kind() {
  if constexpr (kTakesCautions<Reply>) {
    return {write_at<Reply>, caution_at<Reply>};
  } else {
    return {write_at<Reply>, nullptr};
  }
}

// Of each kind one, by whose address a reply knows its own.
template <class Reply>
inline constexpr ReplyKind kReplyKind = reply_kind<Reply>();

}  // namespace api_detail

/// Adds what its reader has to know to a reply that has a place for it: in each element of a list.
template <class Reply>
void add_cautions(Reply& reply, const std::vector<std::string>& cautions) {
  if constexpr (api_detail::kTakesCautions<Reply>) api_detail::caution_at<Reply>(&reply, cautions);
}

/// A reply of some kind that was computed. Copies share it.
class AnyReply {
 public:
  AnyReply() = default;

  [[nodiscard]] explicit operator bool() const noexcept { return kind_ != nullptr; }
  /// Gives its values to whoever writes them.
  void operator()(ReplyWriter& writer) const { kind_->write(writer, reply_.get()); }

  /// The reply, if it is of this kind; null if it is of another.
  template <class Reply>
  [[nodiscard]] const Reply* as() const noexcept {
    return kind_ == &api_detail::kReplyKind<Reply> ? static_cast<const Reply*>(reply_.get()) : nullptr;
  }

  /// Adds what its reader has to know, in each element of a list. Throws std::logic_error where the reply has no place
  /// for it.
  void caution(const std::vector<std::string>& cautions);

 private:
  template <class Reply>
  friend AnyReply any_reply(Reply reply);

  std::shared_ptr<void> reply_;
  const api_detail::ReplyKind* kind_ = nullptr;
};

template <class Reply>
[[nodiscard]] AnyReply any_reply(Reply reply) {
  AnyReply any;
  any.reply_ = std::make_shared<Reply>(std::move(reply));
  any.kind_ = &api_detail::kReplyKind<Reply>;
  return any;
}

/// What `write` writes, as JSON: {"name": value, …}, two blanks a level; a tensor is {"dtype", "shape", "values"} in
/// one line, values that are not finite null.
[[nodiscard]] std::string written_as_json(const std::function<void(ReplyWriter&)>& write);

/// A reply with members in this form.
template <class Reply>
[[nodiscard]] std::string reply_as_json(const Reply& reply) {
  return written_as_json([&](ReplyWriter& writer) { api_detail::write_value(writer, reply); });
}

/// The same in one line without blanks, for files with a reply on each line.
[[nodiscard]] std::string written_as_line(const std::function<void(ReplyWriter&)>& write);

template <class Reply>
[[nodiscard]] std::string reply_as_line(const Reply& reply) {
  return written_as_line([&](ReplyWriter& writer) { api_detail::write_value(writer, reply); });
}

/// A table in Markdown of the members, one row each, and one more table for each kind of object among them.
[[nodiscard]] std::string members_as_markdown(const ReplyType& type);

}  // namespace qkv
