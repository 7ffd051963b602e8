// Functions of the package that ask questions: their arguments are the question's fields, and the answer is its answer.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fields.h"
#include "models.h"
#include "qkv/api/given.h"
#include "qkv/api/models.h"
#include "qkv/api/refusal.h"
#include "qkv/api/saying.h"

namespace qkv::python {

/// As warnings of Python, at the caller of the package's function. Called with the GIL.
void warn(std::string_view speaker, const std::vector<std::string>& cautions);
/// The same but for those of an opened model, which were said when it was.
void warn(std::string_view function, const SharedModel& model, std::vector<std::string> cautions);

/// Questions of this thread are about the model, which may be none.
class Opened {
 public:
  explicit Opened(const SharedModel& model);

 private:
  std::optional<OpensModels> opens_;
};

/// One of them.
template <class Request>
class Asking {
 public:
  using Names = std::initializer_list<std::pair<std::string_view, const char*>>;

  /// The fields of the question that have parameters of their own, and those that the function does not have; `named`
  /// are the function's names of some.
  Asking(const char* function, const Fields<Request>& fields, std::vector<std::string> placed,
         std::vector<std::string> absent = {}, Names named = {})
      : fields_(fields) {
    for (const auto& [field, name] : named) fields_.info(field).python = name;
    leave_out(fields_, absent);
    function_ = {.name = function, .fields = fields_.infos(), .placed = std::move(placed), .absent = std::move(absent)};
    tell_arguments(function_);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() = default;

  [[nodiscard]] const char* name() const noexcept { return function_.name.c_str(); }

  /// body(request, given, saying), which is called with the GIL. What it says of a field is said of the argument; what
  /// it is careful about becomes warnings.
  template <class Body>
  auto answer(const SharedModel& model, const nb::dict& placed, const nb::dict& given, const Body& body) const {
    const FieldValues values = field_values(function_, given, placed);
    const Opened opened(model);
    std::vector<std::string> cautions;
    const Saying saying{.caution = [&](const std::string& what) { cautions.push_back(what); }};
    auto reply = said_in_python(function_, [&] {
      return answered_for(fields_.infos(), values, [&] {
        return body(fields_.from_values(values), qkv::Given(fields_.infos(), values), saying);
      });
    });
    warn(function_.name, model, std::move(cautions));
    return reply;
  }

 private:
  Fields<Request> fields_;
  AskingFunction function_;
};

}  // namespace qkv::python
