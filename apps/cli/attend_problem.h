// qkv attend's options, and what they come to: tensors [B, H, T, D] and what attention() is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common_options.h"
#include "qkv/attention.h"

namespace qkv::cli {

/// The command line as it was read. Paths are tensor paths; an empty text is an option that was not given.
struct AttendFlags {
  std::string q, k, v, past_k, past_v;
  std::optional<std::int64_t> heads, kv_heads;
  std::string mask, mask_file, window, kv_lengths;
  std::string bias, bias_file;
  bool causal = false;
  std::optional<double> scale, softcap, dropout;
  std::string seed;
  std::string sinks;
  std::optional<int> threads;
  std::string target;
  std::uint64_t memory_limit = kMemoryLimit;
  std::string d_out, d_lse;
  std::string stage = "scaled";
  std::string out, weights, scores, lse, present_k, present_v, gradients;
  bool json = false;
  bool quiet = false;
};

/// How the heads lie in the files.
enum class Layout : std::uint8_t {
  matrix,  // [T, H * D]
  packed,  // [B, T, H * D]
  heads,   // [B, H, T, D]
};

struct AttendProblem {
  Layout layout = Layout::heads;
  Tensor q;  // [B, Hq, Tq, D]
  Tensor k;  // [B, Hk, Tk, D], the past in front
  Tensor v;  // [B, Hk, Tk, Dv]; empty() without --v
  AttentionOptions options;
};

/// "2,3": numbers from 0 on. `otherwise` says what else the option takes.
[[nodiscard]] std::vector<std::int64_t> whole_numbers(const std::string& option, std::string_view text,
                                                      std::string_view otherwise = "");

/// Whether --kv-lengths or --sinks has numbers, and names no file.
[[nodiscard]] bool is_list(std::string_view text);

/// The options of a problem with this q and k. Reads the files of mask, bias and lengths; throws as load_problem()
/// does.
[[nodiscard]] AttentionOptions load_options(const AttendFlags& flags, const TensorView& q, const TensorView& k);

/// Reads the files and the texts. `options.target` is that of the flags, which outlive the problem. Throws Error for a
/// file that cannot be read, InvalidArgument, MaskSyntaxError or CLI::ParseError for what has no meaning.
[[nodiscard]] AttendProblem load_problem(const AttendFlags& flags);

/// What comes back to out and to lse, [B, Hq, Tq, Dv] and [B, Hq, Tq]; empty() where the flags do not name it. Throws
/// CLI::ParseError for another shape or type.
struct Upstream {
  Tensor d_out;
  Tensor d_lse;
};
[[nodiscard]] Upstream load_upstream(const AttendFlags& flags, const AttendProblem& problem);

/// [B, Hq, Tq] of what attend writes for a matrix: [Tq] or [Hq, Tq].
[[nodiscard]] Tensor with_all_axes(Tensor tensor, const AttendProblem& problem);

/// A result [B, H, T, D] as the inputs lay.
[[nodiscard]] Tensor in_layout(Tensor tensor, Layout layout);

/// A result [B, H, Tq, …] that has a place for each query: without the axes that a matrix of one head does not have.
[[nodiscard]] Tensor without_absent_axes(Tensor tensor, Layout layout);

}  // namespace qkv::cli
