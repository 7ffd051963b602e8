#include <fmt/format.h>

#include <algorithm>

#include "text/chat_template/filters.h"

namespace qkv::text::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(Budget& budget, const JsonLayout& layout) : budget_(&budget), layout_(&layout) {}

  void write(const Value& value) {
    budget_->step();
    if (const MarkedText* text = value.text()) {
      write_text(*text);
    } else if (const List* list = value.list()) {
      if (list->kind == ListKind::view || list->kind == ListKind::generator) fail(value);
      write_list(*list);
    } else if (const Dict* dict = value.dict()) {
      write_dict(*dict);
    } else if (value.is_none()) {
      out_.append("null");
    } else if (const auto* truth = value.get<bool>()) {
      out_.append(*truth ? "true" : "false");
    } else if (value.number()) {
      out_.append(number_of(value));
    } else {
      fail(value);
    }
  }

  MarkedText take() {
    budget_->make(out_.size());
    return std::move(out_);
  }

 private:
  [[noreturn]] static void fail(const Value& value) {
    throw Fault("tojson: expected strings, numbers, booleans, none, lists and dicts, got " + kind_of(value));
  }

  [[nodiscard]] std::string number_of(const Value& value) const {
    if (const auto* number = value.get<double>()) {
      const std::string text = printed(*number);
      return text == "nan" ? "NaN" : text == "inf" ? "Infinity" : text == "-inf" ? "-Infinity" : text;
    }
    return printed(*budget_, value).bytes();
  }

  void write_text(const MarkedText& text) {
    constexpr char kFirstPrinted = ' ';
    constexpr std::string_view kEscaped = "\"\\\n\r\t\f\b";
    constexpr std::string_view kLetters = "\"\\nrtfb";
    budget_->make(text.size());
    out_.append("\"");
    std::size_t from = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char byte = text.bytes()[at];
      const std::size_t known = kEscaped.find(byte);
      const bool is_control = byte >= 0 && byte < kFirstPrinted;
      if (known == std::string_view::npos && !is_control) continue;
      out_.append(text, from, at);
      out_.append_for(text, at,
                      known != std::string_view::npos ? std::string{'\\', kLetters[known]}
                                                      : fmt::format("\\u{:04x}", static_cast<unsigned>(byte)));
      from = at + 1;
    }
    out_.append(text, from, text.size());
    out_.append("\"");
  }

  void begin_line(std::size_t levels) {
    if (!layout_->indent) return;
    budget_->make(levels * *layout_->indent);
    out_.append("\n" + std::string(levels * *layout_->indent, ' '));
  }

  template <class Items, class Write>
  void write_items(const Items& items, const char* brackets, const Write& write_one) {
    out_.append(std::string_view(brackets, 1));
    ++level_;
    bool is_first = true;
    for (const auto& one : items) {
      if (!is_first) out_.append(layout_->indent ? "," : ", ");
      is_first = false;
      begin_line(level_);
      write_one(one);
    }
    --level_;
    if (!items.empty()) begin_line(level_);
    out_.append(std::string_view(brackets + 1, 1));
  }

  void write_list(const List& list) {
    write_items(list.items, "[]", [&](const Value& one) { write(one); });
  }

  void write_dict(const Dict& dict) {
    auto entries = dict.entries;
    budget_->make(entries.size() * 2 * sizeof(Value));
    if (layout_->sort_keys) {
      std::ranges::sort(entries, [&](const auto& a, const auto& b) { return less(*budget_, a.first, b.first); });
    }
    write_items(entries, "{}", [&](const auto& entry) {
      write_key(entry.first);
      out_.append(": ");
      write(entry.second);
    });
  }

  void write_key(const Value& key) {
    if (key.text() != nullptr) return write(key);
    if (key.list() != nullptr || key.is_undefined()) fail(key);
    out_.append("\"");
    write(key);
    out_.append("\"");
  }

  Budget* budget_;
  const JsonLayout* layout_;
  std::size_t level_ = 0;
  MarkedText out_;
};

}  // namespace

MarkedText as_json(Budget& budget, const Value& value, const JsonLayout& layout) {
  JsonWriter writer(budget, layout);
  writer.write(value);
  return writer.take();
}

}  // namespace qkv::text::jinja
