// A feed-forward layer of experts, of which a router chooses a few for each token.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "qkv/nn/feed_forward.h"

namespace qkv {

/// What a chosen expert's result is multiplied by, of the router's scores s.
enum class ExpertShares : std::uint8_t {
  // Softmax over the scores of the chosen: Mixtral (Jiang et al. 2024, section 2.1), gpt-oss. The same as softmax over
  // all, divided by the sum of the chosen's: norm_topk_prob of Qwen and OLMoE.
  of_chosen,
  of_all,  // softmax over all scores, so that shares add up to less than 1: OLMoE (Muennighoff et al. 2024)
  // Of each choice softmax over the scores that are near the largest one left, so that shares add up to k at most: one
  // that lies more than 2 * router_jitter times the larger of it and its own size below does not count. SparseMixer
  // (Liu et al. 2024, arXiv 2409.12136) as it is after training, of Phi 3.5 MoE.
  in_turn,
  // The sigmoid of each score, by itself or divided by the sum of the chosen's: DeepSeek-V3 (DeepSeek-AI 2024, section
  // 2.1.2) without and with norm_topk_prob.
  sigmoid,
  sigmoid_of_chosen,
};
/// "of_chosen", "of_all", "in_turn", "sigmoid" or "sigmoid_of_chosen".
[[nodiscard]] std::string_view name_of(ExpertShares shares) noexcept;

/// The choice, and what differs between an expert and a feed-forward layer by itself.
struct ExpertOptions {
  std::int64_t count = 0;                           // E; 0: no experts
  std::int64_t per_token = 0;                       // k, 1 to E
  std::optional<std::int64_t> d_ff = std::nullopt;  // of each expert; default: that of the layer's options
  ExpertShares shares = ExpertShares::of_chosen;
  double router_jitter = 0;  // of shares in_turn, 0 or more
  bool router_bias = false;
  // Experts stand in this many groups of as many each, of which first the best `groups_per_token` are chosen, by their
  // largest share, or with sigmoids by the sum of their two largest: DeepSeek-V2 and V3. Not with shares in_turn.
  std::int64_t groups = 1;
  std::int64_t groups_per_token = 1;
  bool correction = false;  // a number of each expert that is added to its sigmoid for the choice alone: DeepSeek-V3
  double factor = 1;        // of all shares
  // Of an expert that every token has beside the chosen ones; default: there is none. With a gate it is multiplied by
  // sigmoid(shared_gate(x)): Qwen 1.5 MoE.
  std::optional<std::int64_t> shared_d_ff = std::nullopt;
  bool shared_gate = false;

  bool operator==(const ExpertOptions&) const = default;
};

/// sum over the k experts e with the largest scores s = router(x) of share_e(s) * expert_e(x) (Shazeer et al. 2017,
/// section 2), and shared(x) where there is such an expert. Of equal scores the first expert's counts as larger; NaN
/// counts as the largest. Each expert computes the tokens that chose it, in one product for each of its maps, and is
/// not read where none did.
///
/// Parameters: router.*, correction [E], which starts at 0 and gets no gradient, if there is one, experts.<e>.* and, if
/// there is a shared expert, shared.* and shared_gate.weight. A trace sees `router`, the scores [..., E]; `shares`
/// [..., E], 0 for experts that were not chosen; of the experts that compute, `experts.<e>` [n, d_model] and its parts,
/// of its n tokens in their order; `shared`, its parts, and `shared_gate` [..., 1]. Edited shares choose, too: an
/// expert computes the tokens whose share of it is not 0.
class Experts {
 public:
  /// Draws the router, each expert and the shared one in this order, as Linear and FeedForward do. Throws
  /// InvalidArgument naming count, per_token, router_jitter, groups, groups_per_token, correction, or the option of
  /// `layer`, which has the sizes and kind of the experts.
  Experts(const ExpertOptions& options, const FeedForwardOptions& layer, const Init& init);

  /// x [..., d_model] -> the same shape and dtype. Allocates scores and shares [..., E], for each token four rows of
  /// d_model for each of its k experts (what they read, their results, these in one, and multiplied) and what
  /// FeedForward does for k, and the result. Throws InvalidArgument naming x.
  [[nodiscard]] Variable forward(const Variable& x) const;
  [[nodiscard]] Parameters parameters() const;
  [[nodiscard]] const ExpertOptions& options() const noexcept { return options_; }

 private:
  [[nodiscard]] Variable shares_of(const Variable& scores) const;
  [[nodiscard]] Variable shares_in_turn(const Variable& scores) const;
  [[nodiscard]] Variable shares_of_sigmoids(const Variable& scores) const;
  [[nodiscard]] Variable mixed(const Variable& x, const Variable& shares) const;
  [[nodiscard]] Variable shared_part(const Variable& x) const;

  ExpertOptions options_;
  Linear router_;
  Variable correction_;  // [E]; empty without
  std::vector<FeedForward> experts_;
  std::optional<FeedForward> shared_;
  std::optional<Linear> shared_gate_;
};

}  // namespace qkv
