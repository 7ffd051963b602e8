// Options that several commands take: how each is spelled, what it accepts and how its value is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli11_names.h"

namespace qkv::cli {

/// A whole number from `least` to `most`.
[[nodiscard]] CLI::Validator between(std::int64_t least, std::int64_t most);

/// A number, and a whole number.
[[nodiscard]] CLI::Validator a_number();
[[nodiscard]] CLI::Validator a_whole_number();

/// One of these words.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> words);

/// --threads, 1 to 65536; QKV_THREADS or all cores where it is not given.
CLI::Option* add_threads_option(CLI::App& command, std::optional<int>& threads);

/// --seed, whose text seed_of() reads. `whose` says what it is the seed of.
CLI::Option* add_seed_option(CLI::App& command, std::string& seed, const std::string& whose);

/// The value of --seed, 0 to 2^64 - 1.
[[nodiscard]] std::uint64_t seed_of(const std::string& text);

/// --color and --width, of what is drawn in the terminal.
void add_terminal_options(CLI::App& command, std::string& color, std::optional<int>& width, const std::string& group);

/// --memory-limit in bytes, 4 GiB where it is not given.
CLI::Option* add_memory_limit_option(CLI::App& command, std::uint64_t& limit, const std::string& description);
inline constexpr std::uint64_t kMemoryLimit = std::uint64_t{4} << 30;

}  // namespace qkv::cli
