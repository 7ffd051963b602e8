// What is wrong with a request, said of the field that brought it.
#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "qkv/api/field.h"
#include "qkv/error.h"

namespace qkv {

/// What a field names cannot be opened, read or written; or there is no such field.
class NotThere : public Error {
 public:
  NotThere(std::string_view field, const std::string& message) : Error(message), field_(field) {}
  [[nodiscard]] const std::string& field() const noexcept { return field_; }

 private:
  std::string field_;
};

/// An error as every face says it: "<field>: <message>".
struct Refusal {
  std::string field;       // several with commas between them, or none; a face has its own names for them
  std::string message;     // other fields stand in it in backquotes
  std::size_t column = 0;  // from 1, in a mask or bias that cannot be read
};

[[nodiscard]] Refusal refusal_of(const std::exception& error);

/// Throws the error that is being handled, of an answer to a request with these values, again: InvalidArgument of any
/// function as one of "request", the word of a mask or bias behind its field; FileError of a path that is the value of a
/// field, or of what lies below it, as NotThere.
[[noreturn]] void rethrow_for(std::span<const FieldInfo> fields, const FieldValues& values);

/// Runs `body`, which answers a request with these values, and says its errors as rethrow_for() does.
template <class Body>
auto answered_for(std::span<const FieldInfo> fields, const FieldValues& values, const Body& body) {
  try {
    return body();
  } catch (const Error&) {
    rethrow_for(fields, values);
  }
}

}  // namespace qkv
