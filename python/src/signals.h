// Ctrl-C, and whatever else Python's handlers of signals do, during a call of the engine.
#pragma once

#include <chrono>

#include "python.h"
#include "qkv/cancel.h"

namespace qkv::python {

/// Runs the handlers of signals that have come, with the GIL taken for it, at most every 50 ms. Throws what they raise.
class Signals {
 public:
  void look() {
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point last_ = Clock::now();
};

/// A watch for options.watch, or for a pass of a probe.
inline auto signal_watch() {
  return [signals = Signals()](const auto&... /*progress*/) mutable {
    signals.look();
    return Proceed::go_on;
  };
}

}  // namespace qkv::python
