#include "interrupts.h"

#include "qkv/written_files.h"

namespace qkv::cli {
namespace {

volatile std::sig_atomic_t signal_came = 0;  // NOLINT(*-avoid-non-const-global-variables): a handler sees nothing else

// The process ends as the signal ends it, without the files that it was writing.
void end_by_signal(int signal) {
  remove_unfinished_files();
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
  ::raise(signal);
}

// The second Ctrl-C ends the process at once.
void note_signal(int signal) {
  if (signal_came != 0) return end_by_signal(signal);
  signal_came = signal;
}

struct sigaction handled_by(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  return action;
}

}  // namespace

void remove_unfinished_files_on_signals() {
  const struct sigaction action = handled_by(end_by_signal);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) ::sigaction(signal, &action, nullptr);  // nohup's stays
  }
}

// Once: what is drawn and saved afterwards is not stopped again.
InterruptWatch::InterruptWatch()
    : calls_([this] {
        if (!interrupted() || has_stopped_) return Proceed::go_on;
        has_stopped_ = true;
        return Proceed::stop;
      }) {
  signal_came = 0;
  const struct sigaction action = handled_by(note_signal);
  ::sigaction(SIGINT, &action, &interrupt_);
  ::sigaction(SIGTERM, &action, &terminate_);
}

InterruptWatch::~InterruptWatch() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
}

bool InterruptWatch::interrupted() { return signal_came != 0; }
bool InterruptWatch::terminated() { return signal_came == SIGTERM; }

}  // namespace qkv::cli
