// How many threads the library uses.
#pragma once

namespace qkv {

/// How many threads a call uses that does not say so itself: the number given to set_threads, else that of the
/// environment variable QKV_THREADS, else the processor cores that this process may run on. Results do not depend on
/// it. The environment is read once. Throws InvalidArgument naming QKV_THREADS if that is wanted, not empty and no
/// whole number from 1 to 65536; so does every call that takes the default. Safe from any thread.
[[nodiscard]] int threads();

/// Sets threads() for the whole process, from the next call on. Throws InvalidArgument for less than 1.
void set_threads(int count);

}  // namespace qkv
