#include "cases/run.h"

#include <bit>
#include <memory>
#include <optional>

#include "attention/fused_targets.h"
#include "qkv/decode.h"

namespace qkv::cases {

using testing_attention::fused_targets;

namespace {

void append_bits(const TensorView& x, std::vector<std::uint32_t>& bits) {
  for (const double value : x.to_vector()) {
    // Every element is a float or narrower, so the conversion is exact; the payload of a NaN does not count.
    bits.push_back(value != value ? 0x7FC00000U : std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  }
}

}  // namespace

std::vector<std::string> targets(DType dtype) {
  std::vector<std::string> names = fused_targets();
  std::erase_if(names, [&](const std::string& name) { return attention_target(dtype, {.target = name}) != name; });
  return names;
}

std::vector<std::string> targets_of(const Case& one) {
  return one.cache == Cache::none ? targets(one.dtype) : fused_targets();
}

std::vector<std::uint32_t> Written::bits() const {
  std::vector<std::uint32_t> all;
  append_bits(out.view(), all);
  append_bits(lse.view(), all);
  return all;
}

Written run_on(std::string_view target, const Case& one, const Inputs& inputs, int threads) {
  Written run = {.out = Placed(one.dtype, {one.B, one.Hq(), one.Tq, one.Dv}, one.out),
                 .lse = Placed(DType::f32, {one.B, one.Hq(), one.Tq}, one.out)};
  AttentionOptions options = inputs.options;
  options.threads = threads;
  options.target = target;
  const TensorView q = inputs.q.view();
  if (inputs.cache) {
    std::vector<std::byte> scratch(decode_scratch_bytes(q, *inputs.cache, options), std::byte{0xFF});
    options.scratch = scratch;
    decode_into(run.out.view(), run.lse.view(), q, *inputs.cache, options);
    return run;
  }
  const TensorView k = inputs.k.view();
  const TensorView v = inputs.v.view();
  std::optional<TilePlan> plan;
  if (one.seed % 2 == 1) options.plan = &plan.emplace(options.mask, one.shape(), TileSize{64, 64});
  if (one.seed % 4 == 2) options.plans = std::make_shared<MaskPlans>();
  std::vector<std::byte> scratch(attention_scratch_bytes(q, k, v, options), std::byte{0xFF});
  options.scratch = scratch;
  attention_into(run.out.view(), run.lse.view(), q, k, v, options);
  return run;
}

AttentionResult run_reference(const Inputs& inputs) {
  const auto wide = [](const Placed& x) { return Tensor(x.view(), DType::f64); };
  return attention(wide(inputs.q), wide(inputs.k), wide(inputs.v), inputs.options);
}

}  // namespace qkv::cases
