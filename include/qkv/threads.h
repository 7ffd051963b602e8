// How many threads the library uses.
#pragma once

namespace qkv {

/// The default number of threads of a call: the value of set_threads(), else of the environment variable QKV_THREADS,
/// else the number of processor cores that this process may use. Results do not depend on it. The environment is read
/// once. Throws InvalidArgument if QKV_THREADS is needed and is not empty or a whole number from 1 to 65536; so does
/// every call that uses the default. Safe from any thread.
[[nodiscard]] int threads();

/// Sets threads() for the whole process, from the next call on. Throws InvalidArgument unless it is from 1 to 65536.
void set_threads(int count);

}  // namespace qkv
