#include "core/watched.h"

#include <utility>

#include "qkv/watched.h"

namespace qkv {
namespace core {
namespace {

thread_local const CallWatch* watch_of_thread = nullptr;

}  // namespace

Watched::Watched(const CallWatch& watch) : outer_(watch_of_thread) {
  if (watch) watch_of_thread = &watch;
}

Watched::~Watched() { watch_of_thread = outer_; }

void look() {
  if (watch_of_thread != nullptr && (*watch_of_thread)() == Proceed::stop) throw Cancelled("the call was stopped");
}

}  // namespace core

WatchedThread::WatchedThread(CallWatch watch)
    : watch_(std::move(watch)), watched_(std::make_unique<core::Watched>(watch_)) {}

WatchedThread::~WatchedThread() = default;

}  // namespace qkv
