// Counts the threads that a program starts: loaded before its libraries (LD_PRELOAD), it adds a byte for each to the
// file that QKV_COUNTED_THREADS names.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

// NOLINTNEXTLINE(readability-identifier-naming): the system's own
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  const char* const path = std::getenv("QKV_COUNTED_THREADS");
  const int counted = path == nullptr ? -1 : ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (counted >= 0) {
    static_cast<void>(::write(counted, "1", 1) == 1);
    ::close(counted);
  }
  return create(thread, attributes, run, argument);
}
