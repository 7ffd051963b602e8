// A reply as JSON for people and programs.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "api/replies/json_of.h"
#include "qkv/api/member.h"

namespace qkv {
namespace {

using api_detail::Json;

std::string json_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Writes as it is told, for a long text has matrices of millions of numbers, which as JSON values would take sixteen
/// bytes each beside their text.
class TextWriter : public ReplyWriter {
 public:
  enum class Form { indented, line };
  explicit TextWriter(Form form) : is_line_(form == Form::line) {}

  void begin_object() override { open('{'); }
  void key(std::string_view name) override {
    next();
    text_ += json_text(name) + (is_line_ ? ":" : ": ");
    has_key_ = true;
  }
  void end_object() override { close('}'); }
  void begin_list() override { open('['); }
  void end_list() override { close(']'); }
  void nothing() override { put("null"); }
  void value(bool flag) override { put(flag ? "true" : "false"); }
  void value(std::int64_t whole) override { put(json_text(whole)); }
  void value(std::uint64_t whole) override { put(json_text(whole)); }
  void value(double number) override { put(json_text(number)); }
  void value(float number) override { put(std::isfinite(number) ? fmt::to_string(number) : "null"); }
  void value(std::string_view text) override { put(json_text(text)); }
  void value(const Tensor& tensor) override;

  [[nodiscard]] std::string take() { return std::move(text_) + "\n"; }

 private:
  void next() {
    if (has_key_ || depth_ == 0) {
      has_key_ = false;
      return;
    }
    if (!is_first_) text_ += ',';
    is_first_ = false;
    break_line();
  }
  void break_line() {
    if (!is_line_) text_ += '\n' + std::string(2 * depth_, ' ');
  }
  void put(std::string_view text) {
    next();
    text_ += text;
  }
  void open(char bracket) {
    next();
    text_ += bracket;
    ++depth_;
    is_first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!is_first_) break_line();
    is_first_ = false;
    text_ += bracket;
  }

  bool is_line_;
  std::string text_;
  std::size_t depth_ = 0;
  bool is_first_ = true;
  bool has_key_ = false;
};

void TextWriter::value(const Tensor& tensor) {
  const std::string colon = is_line_ ? ":" : ": ";
  const std::string comma = is_line_ ? "," : ", ";
  put("{\"dtype\"" + colon + json_text(name_of(tensor.dtype())) + comma + "\"shape\"" + colon +
      json_text(api_detail::json_of(tensor.shape())) + comma + "\"values\"" + colon + "[");
  std::string_view between = "";
  const auto add = [&](const auto number) {
    text_ += between;
    text_ += json_text(number);
    between = comma;
  };
  if (tensor.dtype() == DType::i64) {
    for (const std::int64_t number : tensor.values<std::int64_t>()) add(number);
  } else {
    for (const double number : tensor.to_vector()) add(number);
  }
  text_ += "]}";
}

}  // namespace

std::string written_as_json(const std::function<void(ReplyWriter&)>& write) {
  TextWriter writer(TextWriter::Form::indented);
  write(writer);
  return writer.take();
}

std::string written_as_line(const std::function<void(ReplyWriter&)>& write) {
  TextWriter writer(TextWriter::Form::line);
  write(writer);
  return writer.take();
}

}  // namespace qkv
