// How many threads the library uses.
#pragma once

namespace qkv {

/// How many threads a call uses that does not say so itself: the number given to set_threads, else that of the
/// environment variable QKV_THREADS if it is a whole number from 1 to 65536, else the processor cores that this process
/// may run on. Results do not depend on it. The environment is read once. Safe from any thread.
[[nodiscard]] int threads();

/// Sets threads() for the whole process, from the next call on. Throws InvalidArgument for less than 1.
void set_threads(int count);

}  // namespace qkv
