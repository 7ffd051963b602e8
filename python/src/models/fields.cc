#include "fields.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "../arrays.h"
#include "qkv/api/field_forms.h"
#include "qkv/api/refusal.h"

namespace qkv::python {
namespace {

// Numbers and short texts as they are, of others the type.
std::string said(nb::handle value) {
  return nb::cast<std::string>(nb::module_::import_("qkv._calls").attr("said")(value));
}

[[noreturn]] void refuse_type(const Argument& argument, const std::string& expected, const std::string& got) {
  const std::string text =
      std::string(argument.function) + ": " + std::string(argument.name) + ": expected " + expected + ", got " + got;
  throw nb::type_error(text.c_str());
}

// None where it was no number, or one that does not fit.
template <class Number>
std::optional<FieldValue> unless_refused(Number number) {
  if (PyErr_Occurred() == nullptr) return FieldValue(number);
  PyErr_Clear();
  return std::nullopt;
}

bool is_whole(nb::handle value) { return PyIndex_Check(value.ptr()) != 0 && !nb::isinstance<nb::bool_>(value); }

std::optional<FieldValue> whole_of(nb::handle value) {
  if (!is_whole(value)) return std::nullopt;
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  return unless_refused(std::int64_t{PyLong_AsLongLong(index.ptr())});
}

// Or one of NumPy, whose type has another name in its version 1.
std::optional<FieldValue> truth_of(nb::handle value) {
  const std::string type = nb::isinstance<nb::bool_>(value) ? "" : said(value);
  if (!type.empty() && type != "numpy.bool" && type != "numpy.bool_") return std::nullopt;
  return FieldValue(PyObject_IsTrue(value.ptr()) == 1);
}

std::optional<FieldValue> seed_of(nb::handle value) {
  if (!is_whole(value)) return std::nullopt;
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  return unless_refused(std::uint64_t{PyLong_AsUnsignedLongLong(index.ptr())});
}

std::optional<FieldValue> number_of(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return std::nullopt;
  return unless_refused(PyFloat_AsDouble(value.ptr()));
}

// Arrays and lists of numbers, as the text that stands for them. Brackets hold what JSON has no numbers for, too.
std::optional<FieldValue> text_of_lists(const Argument& argument, const FieldInfo& field, nb::handle value) {
  const NumbersForm form = numbers_form_of(field);
  if (form == NumbersForm::none) return std::nullopt;
  const nb::object given = nb::module_::import_("qkv._given")
                               .attr("numbers_text")(std::string(argument.function), std::string(argument.name), value);
  if (given.is_none()) return std::nullopt;
  auto text = nb::cast<std::string>(given);
  if (form == NumbersForm::tensor && text.starts_with('[')) return text;
  auto written = text_of_numbers(field, text);
  return written ? std::optional<FieldValue>(std::move(*written)) : std::nullopt;
}

// Or a path, or the bytes of a file.
std::optional<FieldValue> text_of(const Argument& argument, const FieldInfo& field, nb::handle value) {
  if (PyBytes_Check(value.ptr()) != 0 && !field.media.empty()) {
    const nb::object text = nb::module_::import_("base64").attr("b64encode")(value).attr("decode")("ascii");
    return "data:" + field.media + ";base64," + nb::cast<std::string>(text);
  }
  const nb::object text = nb::steal(PyOS_FSPath(value.ptr()));
  if (!text.is_valid()) PyErr_Clear();
  if (!text.is_valid() || !nb::isinstance<nb::str>(text)) return text_of_lists(argument, field, value);
  return utf8_of(text, argument);
}

// Of files also paths, bytes and numbers, as text_of() takes them.
std::optional<FieldValue> text_of_item(const Argument& argument, const FieldInfo& field, nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return utf8_of(value, argument);
  if (field.media.empty()) return std::nullopt;
  FieldInfo one = field;
  one.type = FieldType::text;
  return text_of(argument, one, value);
}

std::vector<std::string> texts_of(const Argument& argument, const FieldInfo& field, nb::handle value) {
  if (PyBytes_Check(value.ptr()) != 0 || nb::hasattr(value, "__fspath__")) {  // one of them is a list of one
    if (auto one = text_of_item(argument, field, value)) return {std::get<std::string>(*std::move(one))};
  }
  if (PyIter_Check(value.ptr()) == 0 && !nb::hasattr(value, "__iter__")) {
    refuse_type(argument, "a list of texts", said(value));
  }
  std::vector<std::string> texts;
  for (nb::handle one : nb::iter(value)) {
    std::optional<FieldValue> text = text_of_item(argument, field, one);
    if (!text) refuse_type(argument, "a list of texts", said(one) + " at " + std::to_string(texts.size()));
    texts.push_back(std::get<std::string>(*std::move(text)));
  }
  return texts;
}

std::optional<FieldValue> size_of(const FieldInfo& field, nb::handle value) {
  if (!nb::isinstance<nb::str>(value)) return seed_of(value);
  return field_value(field, utf8_of(value, {{}, python_name(field)}));
}

std::optional<FieldValue> typed(const Argument& argument, const FieldInfo& field, nb::handle value) {
  switch (field.type) {
    case FieldType::flag:
    case FieldType::toggle:
      return truth_of(value);
    case FieldType::whole:
      return whole_of(value);
    case FieldType::seed:
      return seed_of(value);
    case FieldType::number:
      return number_of(value);
    case FieldType::text:
      return text_of(argument, field, value);
    case FieldType::size:
      return size_of(field, value);
    // One text for a list is what it is on the command line.
    case FieldType::texts:
      if (nb::isinstance<nb::str>(value)) return field_value(field, utf8_of(value, argument));
      return texts_of(argument, field, value);
    case FieldType::wholes:
      if (nb::isinstance<nb::str>(value)) return field_value(field, utf8_of(value, argument));
      return whole_numbers_of(value, argument);
  }
  __builtin_unreachable();
}

bool names(const std::vector<std::string>& all, const std::string& name) {
  return std::ranges::find(all, name) != all.end();
}

// Whether callers give it by name.
bool is_named(const AskingFunction& function, const FieldInfo& field) {
  return !names(function.placed, field.name) && !names(function.absent, field.name);
}

// By its name in Python, or in docs/api.md: **{"from": 200} is first=200.
std::size_t index_of(const AskingFunction& function, const std::string& name) {
  std::vector<std::string> known;
  for (std::size_t n = 0; n < function.fields.size(); ++n) {
    const FieldInfo& field = function.fields[n];
    if (!is_named(function, field)) continue;
    if (python_name(field) == name || field.name == name) return n;
    known.push_back(python_name(field));
  }
  const FieldInfo* const meant = field_called(function.fields, name);
  const std::string hint = meant != nullptr && is_named(function, *meant) ? python_name(*meant) : "";
  const std::string text = function.name + ": " + there_is_no("field", name, known, hint);
  throw nb::type_error(text.c_str());
}

std::size_t index_of_placed(const AskingFunction& function, const std::string& name) {
  const auto found = std::ranges::find(function.fields, name, &FieldInfo::name);
  if (found == function.fields.end()) throw nb::key_error(name.c_str());
  return static_cast<std::size_t>(found - function.fields.begin());
}

FieldValue value_of(std::string_view function, const FieldInfo& field, nb::handle given) {
  const Argument argument{function, python_name(field)};
  std::optional<FieldValue> value = typed(argument, field, given);
  const bool has_number =
      field.type != FieldType::flag && field.type != FieldType::toggle && field.type != FieldType::text;
  if (!value && has_number && is_whole(given)) {
    throw InvalidArgument(function, argument.name, expected_of(field), said(given));
  }
  if (!value) refuse_type(argument, expected_of(field), said(given));
  if (const auto* number = std::get_if<double>(&*value); number != nullptr && !std::isfinite(*number)) {
    throw InvalidArgument(function, argument.name, "a finite number", said(given));
  }
  return checked_value(field, std::move(*value), said(given));
}

// What a field has where it is not given; None where that follows from other things.
nb::object default_of(const FieldInfo& field) {
  switch (field.type) {
    case FieldType::flag:
      return nb::bool_(false);
    case FieldType::texts:
    case FieldType::wholes:
      return takes_empty_list(field) ? nb::object(nb::tuple()) : nb::none();
    case FieldType::whole:
    case FieldType::seed:
      return field.fallback.empty() ? nb::none() : nb::object(nb::int_(nb::str(field.fallback.c_str())));
    case FieldType::number:
      return field.fallback.empty() ? nb::none() : nb::object(nb::float_(nb::str(field.fallback.c_str())));
    case FieldType::toggle:
      return nb::none();
    case FieldType::text:
    case FieldType::size:
      return field.fallback.empty() ? nb::none() : nb::object(nb::str(field.fallback.c_str()));
  }
  __builtin_unreachable();
}

// Its annotation in Python.
std::string annotation_of(const FieldInfo& field) {
  static constexpr const char* kTypes[] = {
      "bool", "bool", "int", "int", "float", "str", "int | str", "str | Sequence[str]", "str | Sequence[int]"};
  std::string type = kTypes[static_cast<std::size_t>(field.type)];
  const bool is_open = std::ranges::find(field.words, std::string()) != field.words.end() || field.alone.has_value();
  if (field.type == FieldType::text && !field.words.empty() && !is_open) {
    std::string words;
    for (const std::string& word : field.words) words += (words.empty() ? "'" : ", '") + word + "'";
    type = "Literal[" + words + "]";
  }
  constexpr const char* kNumbers[] = {"", " | float", " | float | Numbers", " | Numbers", " | Numbers"};
  if (field.type == FieldType::text) type += kNumbers[static_cast<std::size_t>(numbers_form_of(field))];
  if (!field.media.empty()) {
    type = field.type == FieldType::text ? type + " | bytes" : "str | bytes | Sequence[str | bytes | Numbers]";
  }
  const bool is_optional = !field.required && (default_of(field).is_none() || field.type == FieldType::texts);
  return type + (is_optional ? " | None" : "");
}

// Of a field, or of what the library calls its value; "a, b" of several, of which it may not have all.
std::string argument_of(const AskingFunction& function, const std::string& name) {
  const std::span<const FieldInfo> fields = function.fields;
  if (const std::size_t comma = name.find(", "); comma != std::string::npos) {
    const std::string others = argument_of(function, name.substr(comma + 2));
    if (names(function.absent, name.substr(0, comma))) return others;
    const std::string first = argument_of(function, name.substr(0, comma));
    return others == first || others.starts_with(first + ",") ? others : first + ", " + others;
  }
  if (const std::size_t bracket = name.find('['); bracket != std::string::npos) {
    return argument_of(function, name.substr(0, bracket)) + name.substr(bracket);
  }
  auto field = std::ranges::find(fields, name, &FieldInfo::name);
  if (field == fields.end()) {
    field = std::ranges::find_if(
        fields, [&](const FieldInfo& one) { return std::ranges::find(one.arguments, name) != one.arguments.end(); });
  }
  return field == fields.end() ? name : python_name(*field);
}

// "probe: start: expected …": fields stand in backquotes in the message.
std::string said_of_argument(const AskingFunction& function, const Refusal& refusal) {
  std::string message = refusal.message;
  for (const FieldInfo& field : function.fields) {
    if (field.python.empty()) continue;
    const std::string quoted = "`" + field.name + "`";
    if (const auto at = message.find(quoted); refusal.column == 0 && at != std::string::npos) {
      message.replace(at + 1, field.name.size(), field.python);
    }
  }
  return function.name + ": " + argument_of(function, refusal.field) + ": " + message;
}

std::vector<AskingFunction>& told() {
  static std::vector<AskingFunction> all;
  return all;
}

}  // namespace

FieldValues field_values(const AskingFunction& function, const nb::dict& given, const nb::dict& placed) {
  return said_in_python(function, [&] {
    FieldValues values;
    const auto add = [&](std::size_t n, nb::handle value) {
      if (value.is_none()) return;
      const FieldInfo& field = function.fields[n];
      if (std::ranges::find(values, n, &FieldValues::value_type::first) != values.end()) {
        throw InvalidArgument(function.name, python_name(field), "it once", "it by both of its names");
      }
      values.emplace_back(n, value_of(function.name, field, value));
    };
    for (const auto& [name, value] : placed) add(index_of_placed(function, nb::cast<std::string>(name)), value);
    for (const auto& [name, value] : given) add(index_of(function, utf8_of(name, {function.name, "field"})), value);
    require_company(function.fields, values);
    return values;
  });
}

void leave_out(FieldTable& fields, const std::vector<std::string>& absent) {
  const auto is_absent = [&](const std::string& need) { return names(absent, need.substr(0, need.find('='))); };
  const auto require_last = [&](std::vector<std::string>& all) {
    if (all.size() != 1) return;
    fields.info(all.front()).required = true;
    all.clear();
  };
  for (const FieldInfo& one : fields.infos()) {
    FieldInfo& field = fields.info(one.name);
    std::erase_if(field.one_of, is_absent);
    std::erase_if(field.needs_one, is_absent);
    for (NeedBeside& beside : field.beside) std::erase_if(beside.needs_one, is_absent);
    if (field.required) require_last(field.needs_one);
    if (!is_absent(field.name) || field.one_of.empty()) continue;
    std::vector<std::string> others = std::exchange(field.one_of, {});
    require_last(others);
    if (others.empty()) continue;
    FieldInfo& first = fields.info(others.front());
    first.one_of.assign(others.begin() + 1, others.end());
  }
}

void rethrow_in_python(const AskingFunction& function) {
  try {
    throw;
  } catch (const InvalidArgument& error) {
    if (error.function() == "threads") throw;
    set_error(PyExc_ValueError, said_of_argument(function, refusal_of(error)));
    throw nb::python_error();
  } catch (const NotThere& error) {
    throw Error(said_of_argument(function, refusal_of(error)));
  }
}

nb::list described(const AskingFunction& function) {
  nb::list all;
  for (const FieldInfo& field : function.fields) {
    if (!is_named(function, field)) continue;
    const std::string meaning = field.meaning + (field.otherwise.empty() ? "" : " [" + field.otherwise + "]");
    all.append(nb::make_tuple(python_name(field), annotation_of(field), default_of(field), field.required, meaning));
  }
  return all;
}

void tell_arguments(const AskingFunction& function) { told().push_back(function); }

nb::dict told_arguments() {
  nb::dict all;
  for (const AskingFunction& function : told()) all[function.name.c_str()] = described(function);
  return all;
}

}  // namespace qkv::python
