// Signals that come while a product is computed.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <cstdint>

#include "autograd/gradient_check.h"
#include "qkv/autograd/matmul.h"
#include "qkv/threads.h"

namespace qkv::signals_test {
namespace {

std::atomic<std::uintptr_t> lowest;
std::atomic<std::uintptr_t> highest;
std::atomic<int> inside;
std::atomic<int> outside;
std::atomic<pthread_t> watched;

void note_where_the_stack_is(int /*signal*/) {
  if (pthread_equal(pthread_self(), watched) == 0) return;
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  (place >= lowest && place < highest ? inside : outside) += 1;
}

void watch_this_thread() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  ASSERT_EQ(pthread_attr_getstack(&attributes, &begin, &size), 0);
  pthread_attr_destroy(&attributes);
  lowest = reinterpret_cast<std::uintptr_t>(begin);
  highest = lowest + size;
  watched = pthread_self();
}

void signal_each(long microseconds) {
  const itimerval time{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_PROF, &time, nullptr);
}

// A handler runs where the stack pointer stands. Products of a library that moves it into the heap must not be
// interrupted: the handler's frame would lie over other values.
TEST(Signals, AreHandledOnTheStackOfTheirThread) {
  constexpr int kEnough = 40;
  constexpr int kMost = 5000;
  watch_this_thread();
  if (HasFatalFailure()) return;
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = note_where_the_stack_is;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGPROF, &action, &before), 0);
  const int threads_before = threads();
  set_threads(1);
  const Variable a(normal_numbers(1, {37, 300}).to(DType::f32));
  const Variable b(normal_numbers(2, {300, 500}).to(DType::f32));
  signal_each(500);
  for (int n = 0; n < kMost && inside + outside < kEnough; ++n) static_cast<void>(matmul(a, b));
  signal_each(0);
  set_threads(threads_before);
  sigaction(SIGPROF, &before, nullptr);
  EXPECT_GT(inside, 0);
  EXPECT_EQ(outside, 0);
}

}  // namespace
}  // namespace qkv::signals_test
