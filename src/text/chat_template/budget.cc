#include "text/chat_template/budget.h"

namespace qkv::text::jinja {
namespace {

constexpr std::size_t kSteps = 400'000;
constexpr std::size_t kStepsPerMessage = 10'000;
constexpr std::size_t kStepsPerByte = 16;
constexpr std::size_t kBytes = std::size_t{8} << 20;
constexpr std::size_t kBytesPerMessage = 4096;
constexpr std::size_t kBytesPerByte = 64;

}  // namespace

Budget::Budget(std::size_t messages, std::size_t bytes)
    : steps_(kSteps + kStepsPerMessage * messages + kStepsPerByte * bytes),
      bytes_(kBytes + kBytesPerMessage * messages + kBytesPerByte * bytes) {}

void Budget::step(std::size_t count) {
  if (count > steps_) throw Fault("expected a template that ends, got more steps than any conversation needs");
  steps_ -= count;
}

void Budget::make(std::size_t bytes) {
  if (bytes > bytes_) throw Fault("expected texts and lists of a conversation's size, got more bytes than it may need");
  bytes_ -= bytes;
  read(bytes);
}

}  // namespace qkv::text::jinja
