#include "qkv/api/asking.h"

#include <chrono>
#include <new>
#include <nlohmann/json.hpp>
#include <span>

#include "qkv/error.h"

namespace qkv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenLooks{10};
constexpr std::chrono::milliseconds kBetweenFrames{100};

std::string progress_frame(std::string_view what, const ProbeProgress& progress) {
  const nlohmann::json json{{"what", what}, {"done", progress.done}, {"total", progress.total}};
  return framed(StudioFrame::progress, json.dump());
}

// Tells the listener of progress, and the work whether anybody listens.
class Reporter {
 public:
  explicit Reporter(const Listener& listener) : listener_(listener) {}

  Proceed report(std::string_view what, const ProbeProgress& progress) {
    const auto now = Clock::now();
    if (now < next_look_) return Proceed::go_on;
    next_look_ = now + kBetweenLooks;
    if (!listener_.is_there()) return Proceed::stop;
    if (now < next_frame_ || progress.total == 0) return Proceed::go_on;
    next_frame_ = now + kBetweenFrames;
    return listener_.hear(progress_frame(what, progress)) ? Proceed::go_on : Proceed::stop;
  }

 private:
  const Listener& listener_;
  Clock::time_point next_look_;
  Clock::time_point next_frame_;
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool hear_error(const Listener& listener, const std::exception& error) {
  return listener.hear(framed(StudioFrame::error, error_as_json(error)));
}

}  // namespace

bool answer_in_frames(const Ask& ask, std::string_view name, std::string_view request, const Listener& listener) {
  Reporter reporter(listener);
  const StudioWatch watch = [&](std::string_view what, const ProbeProgress& progress) {
    return reporter.report(what, progress);
  };
  try {
    const StudioReply reply = ask(name, request, watch);
    return listener.hear(framed(StudioFrame::reply, reply.json)) &&
           listener.hear(framed(StudioFrame::blocks, text_of(reply.blocks)));
  } catch (const Cancelled&) {
    return false;
  } catch (const std::bad_alloc&) {
    return hear_error(listener, Error("there is not enough memory for this"));
  } catch (const std::exception& error) {
    return hear_error(listener, error);
  }
}

}  // namespace qkv
