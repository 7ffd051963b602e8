// Values as Python's str() and repr() write them.
#include <fmt/format.h>

#include <cmath>

#include "text/chat_template/letters.h"
#include "text/chat_template/value.h"

namespace qkv::text::jinja {
namespace {

constexpr char kFirstPrinted = ' ';
constexpr char kDelete = 0x7F;

void append_quoted(const MarkedText& text, MarkedText& out) {
  const bool has_single = text.bytes().find('\'') != std::string::npos;
  const char quote = has_single && text.bytes().find('"') == std::string::npos ? '"' : '\'';
  out.append(std::string_view(&quote, 1));
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text.bytes()[at];
    const bool is_control = (byte >= 0 && byte < kFirstPrinted) || byte == kDelete;
    if (byte == '\n') {
      out.append_for(text, at, "\\n");
    } else if (byte == '\r') {
      out.append_for(text, at, "\\r");
    } else if (byte == '\t') {
      out.append_for(text, at, "\\t");
    } else if (is_control) {
      out.append_for(text, at, fmt::format("\\x{:02x}", static_cast<unsigned>(byte)));
    } else if (byte == '\\' || byte == quote) {
      out.append_for(text, at, std::string{'\\', byte});
    } else {
      out.append(text, at, at + 1);
    }
  }
  out.append(std::string_view(&quote, 1));
}

void append_list(Budget& budget, const List& list, MarkedText& out) {
  const bool is_tuple = list.kind == ListKind::tuple;
  out.append(is_tuple ? "(" : "[");
  for (std::size_t n = 0; n < list.items.size(); ++n) {
    if (n > 0) out.append(", ");
    append_repr(budget, list.items[n], out);
  }
  if (is_tuple && list.items.size() == 1) out.append(",");
  out.append(is_tuple ? ")" : "]");
}

void append_dict(Budget& budget, const Dict& dict, MarkedText& out) {
  out.append("{");
  bool is_first = true;
  for (const auto& [key, value] : dict.entries) {
    if (!is_first) out.append(", ");
    is_first = false;
    append_repr(budget, key, out);
    out.append(": ");
    append_repr(budget, value, out);
  }
  out.append("}");
}

}  // namespace

std::string printed(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void append_repr(Budget& budget, const Value& value, MarkedText& out) {
  budget.step();
  if (const MarkedText* text = value.text()) {
    budget.make(text->size());
    append_quoted(*text, out);
  } else if (const List* list = value.list()) {
    append_list(budget, *list, out);
  } else if (const Dict* dict = value.dict()) {
    append_dict(budget, *dict, out);
  } else if (value.is_undefined()) {
    out.append("Undefined");
  } else {
    out.append(printed(budget, value));
  }
}

MarkedText printed(Budget& budget, const Value& value) {
  budget.step();
  if (const MarkedText* text = value.text()) return *text;
  if (value.is_undefined()) return {};
  if (value.is_none()) return MarkedText("None");
  if (const auto* truth = value.get<bool>()) return MarkedText(*truth ? "True" : "False");
  if (const auto* number = value.get<std::int64_t>()) return MarkedText(std::to_string(*number));
  if (const auto* number = value.get<double>()) return MarkedText(printed(*number));
  if (value.list() != nullptr || value.dict() != nullptr) {
    MarkedText out;
    append_repr(budget, value, out);
    budget.make(out.size());
    return out;
  }
  throw Fault("expected a value that can be printed, got " + kind_of(value));
}

}  // namespace qkv::text::jinja
