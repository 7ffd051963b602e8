// The parts of a probe's reply that have files of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qkv/api/probe.h"

namespace qkv::api_detail {

/// Shrinks the map to the matrix and checks row, tile and top_k against it. Throws InvalidArgument naming the field,
/// also where nothing is asked for.
void fit(ProbeChoice& choice, const MaskShape& shape);

/// "3", "0,2,5" or "all" of `count` heads; without a text all of them where they are averaged, else the first.
[[nodiscard]] std::vector<std::int64_t> heads_of(const ProbeRequest& request, std::int64_t count);

/// load_probe_inputs() of a model.
[[nodiscard]] ProbeInputs load_model_inputs(const ProbeRequest& request, const ProbeChoice& choice);

/// The made-up text of the page Far, without its mask.
[[nodiscard]] ProbeInputs planted_inputs(std::int64_t tokens, std::uint64_t seed);

/// [B, Hq, Tq]; empty() where the text is. Throws InvalidArgument for another shape or dtype.
[[nodiscard]] Tensor load_lse(const std::string& text, const AttentionProblem& problem);

/// Computes the lse of some rows of each head again: all where they are few, else sixteen from the first to the last.
/// Throws InvalidArgument naming the source, the row, what was expected and what came where they differ by more than
/// two computations of it can.
void check_lse(const std::string& source, const Tensor& lse, const AttentionProblem& problem, std::int64_t b,
               const std::vector<std::int64_t>& heads);

/// The numbers of places, from `begin` to before `end`.
[[nodiscard]] std::vector<std::string> numbers_from_to(std::int64_t begin, std::int64_t end);

/// "mean of 8 heads", of some of them "mean of heads 0, 3, 5"
[[nodiscard]] std::string mean_title(const ProbeReply& reply);

}  // namespace qkv::api_detail
