// A reply as JSON for people and programs.
#include <string>

#include "api/replies/json_of.h"
#include "qkv/api/member.h"

namespace qkv {
namespace {

using api_detail::Json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Writes as it is told, for a long text has matrices of millions of numbers, which as JSON values would take sixteen
/// bytes each beside their text.
class TextWriter : public ReplyWriter {
 public:
  void begin_object() override { open('{'); }
  void key(std::string_view name) override {
    next();
    text_ += text_of(name) + ": ";
    has_key_ = true;
  }
  void end_object() override { close('}'); }
  void begin_list() override { open('['); }
  void end_list() override { close(']'); }
  void nothing() override { put("null"); }
  void value(bool flag) override { put(flag ? "true" : "false"); }
  void value(std::int64_t whole) override { put(text_of(whole)); }
  void value(std::uint64_t whole) override { put(text_of(whole)); }
  void value(double number) override { put(text_of(number)); }
  void value(std::string_view text) override { put(text_of(text)); }
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
    text_ += '\n' + std::string(2 * depth_, ' ');
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
    if (!is_first_) text_ += '\n' + std::string(2 * depth_, ' ');
    is_first_ = false;
    text_ += bracket;
  }

  std::string text_;
  std::size_t depth_ = 0;
  bool is_first_ = true;
  bool has_key_ = false;
};

void TextWriter::value(const Tensor& tensor) {
  put("{\"dtype\": " + text_of(name_of(tensor.dtype())) +
      ", \"shape\": " + text_of(api_detail::json_of(tensor.shape())) + ", \"values\": [");
  const char* between = "";
  const auto add = [&](const auto number) {
    text_ += between;
    text_ += text_of(number);
    between = ", ";
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
  TextWriter writer;
  write(writer);
  return writer.take();
}

}  // namespace qkv
