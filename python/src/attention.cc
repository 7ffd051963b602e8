#include "qkv/attention.h"

#include "inputs.h"
#include "options.h"
#include "score_mod.h"
#include "signals.h"

namespace qkv::python {
namespace {

AttentionResult computed(const Inputs& inputs, const Tensor& k, const Tensor& v, const OptionArguments& given) {
  AttentionOptions options = options_of("attention", given, inputs.shape(k));
  options.watch = signal_watch();
  const nb::gil_scoped_release free;
  return attention(inputs.q(), k, v, options);
}

nb::object result_of(const Inputs& inputs, AttentionResult result) {
  static const nb::handle kType = nb::object(nb::module_::import_("qkv._results").attr("AttentionResult")).release();
  const nb::object out = inputs.give(std::move(result.out));
  return kType(out, inputs.give(std::move(result.lse)));
}

nb::object attention_of(nb::handle q, nb::handle k, nb::handle v, const nb::object& mask, const nb::object& bias,
                        std::optional<double> scale, std::optional<double> softcap, const nb::object& dropout,
                        const nb::object& sinks, const nb::object& ragged, std::optional<int> threads,
                        const nb::object& target, const nb::object& within, bool return_lse,
                        const nb::object& score_mod) {
  const Inputs inputs("attention", q);
  const Tensor keys = inputs.read(k, "k");
  const Tensor values = inputs.read(v, "v");
  const OptionArguments given = {mask, bias, scale, softcap, dropout, sinks, ragged, threads, target, within};
  AttentionResult result = score_mod.is_none() ? computed(inputs, keys, values, given)
                                               : attention_with(score_mod, inputs, keys, values, given);
  return return_lse ? result_of(inputs, std::move(result)) : inputs.give(std::move(result.out));
}

nb::object stage_as_array(const std::string& stage, nb::handle q, nb::handle k, const nb::object& mask,
                          const nb::object& bias, std::optional<double> scale, std::optional<double> softcap,
                          const nb::object& dropout, const nb::object& sinks, const nb::object& within) {
  const Inputs inputs("attention_stage", q);
  const Tensor keys = inputs.read(k, "k");
  const nb::object none = nb::none();
  AttentionOptions options =
      options_of("attention_stage", {mask, bias, scale, softcap, dropout, sinks, none, std::nullopt, none, within},
                 inputs.shape(keys));
  options.watch = signal_watch();
  const Stage wanted = stage_of("attention_stage", stage);
  Tensor result;
  {
    const nb::gil_scoped_release free;
    result = attention_stage(inputs.q(), keys, options, wanted);
  }
  return inputs.give(std::move(result));
}

nb::object merged(const std::vector<std::pair<nb::object, nb::object>>& parts, std::optional<int> threads) {
  if (parts.empty()) throw InvalidArgument("merge_attention", "parts", "one or more", "none");
  const Inputs first("merge_attention", parts.front().first, "parts[0].out");
  std::vector<Tensor> kept;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const std::string name = "parts[" + std::to_string(n) + "]";
    kept.push_back(first.read(parts[n].first, name + ".out"));
    kept.push_back(first.read(parts[n].second, name + ".lse", 1));
  }
  std::vector<PartialAttention> views;
  for (std::size_t n = 0; n < kept.size(); n += 2) views.push_back({.out = kept[n], .lse = kept[n + 1]});
  AttentionResult result;
  {
    const nb::gil_scoped_release free;
    result = merge_attention(views, threads);
  }
  return result_of(first, std::move(result));
}

constexpr const char* kAttention = R"doc(Exact attention: dropout(softmax(mask(softcap(scale * q k^T) + bias))) v.

Shapes: q [B, Hq, Tq, D], k [B, Hk, Tk, D], v [B, Hk, Tk, Dv]; Hq a multiple of Hk. All three may leave out B, or B and
H. Element types float64, float32, float16, bfloat16, the same for all three; any strides; read in place. NumPy arrays,
PyTorch tensors on the CPU, JAX arrays, and anything with DLPack or the buffer protocol.

mask      a Mask, a text ("causal & window(512)"), a bool or uint8 array that broadcasts to [B, Hq, Tq, Tk], or a function
          of (b, h, i, j), called once with index arrays that broadcast against each other. True: query i sees key j.
bias      a Bias, a text ("alibi"), an array, or a function as above: added to the scores after scale and softcap.
scale     times q k^T; 1 / sqrt(D) if None.
softcap   c: a score x becomes c * tanh(x / c).
dropout   p, or (p, seed): weights set to 0 with probability p, a function of the seed and the place.
sinks     one logit for each query head.
ragged    (q_offsets, k_offsets): documents packed end to end, B = 1.
threads   how many; qkv.threads() if None. Results do not depend on it.
target    a name that qkv.targets() lists; the best of this machine if None.
within    a MatrixWindow: q and k are a window of a larger matrix, and mask, bias and dropout are those of the whole, arrays
          with its extents, functions called for it. out and lse are of the window's keys alone; merge_attention() makes
          the whole of several windows of keys. Give sinks to one of them. With ragged, one for all documents or a list
          with one for each.
score_mod a function of (score, b, h, q_idx, k_idx) that gives the score to use after scale, softcap and bias, before the
          mask; or a pair of it and its derivative by the score, for attention_backward(). It is called for blocks of
          queries of one head with NumPy arrays: score float64 [n, Tk], b and h of no axes, q_idx [n, 1], k_idx [1, Tk].
          Computed by the reference on one thread, in O(Tq * Tk) time and blocks of 16 MB: thousands of times slower
          than a fused kernel. Not with dropout, ragged or within.

Returns out [B, Hq, Tq, Dv] of the library, type and axes of q; with return_lse an AttentionResult (out, lse), lse
[B, Hq, Tq] the natural logarithm of each row's sum, float64 if q is, else float32.

float64 runs on the reference, a plain loop on one thread. The GIL is free during the call, and Ctrl-C ends it between two
tasks of some milliseconds. Raises ValueError naming the argument, and TypeError for what is no array.)doc";

constexpr const char* kMerge = R"doc(The result of attention() over all keys, from those over parts of them.

parts are AttentionResults, or pairs (out, lse), of calls with the same queries and windows of the keys that share none:
attention(…, within=window, return_lse=True). lse is the log of the sum of exp of theirs, and out their mean by these
weights. A part whose lse is -inf is not read; a row that no part saw gives zeros and lse -inf. Sums are in float64, in the
order of the parts. Gives an AttentionResult in the type of the first out. Raises ValueError naming the part.
Dao et al. 2022, section 3.1.)doc";

constexpr const char* kStage = R"doc(One T x T intermediate of attention as an array [B, Hq, Tq, Tk] of float64.

stage is "raw", "scaled", "softcapped", "biased", "masked", "weights" or "dropped". This does store T x T numbers;
qkv.Probe gives any part of them without. The other arguments are those of attention().)doc";

}  // namespace

void add_attention(nb::module_& module) {
  module.def("attention", &attention_of, nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::kw_only(),
             nb::arg("mask") = nb::none(), nb::arg("bias") = nb::none(), nb::arg("scale") = nb::none(),
             nb::arg("softcap") = nb::none(), nb::arg("dropout") = nb::none(), nb::arg("sinks") = nb::none(),
             nb::arg("ragged") = nb::none(), nb::arg("threads") = nb::none(), nb::arg("target") = nb::none(),
             nb::arg("within") = nb::none(), nb::arg("return_lse") = false, nb::arg("score_mod") = nb::none(),
             kAttention);
  module.def("attention_stage", &stage_as_array, nb::arg("stage"), nb::arg("q"), nb::arg("k"), nb::kw_only(),
             nb::arg("mask") = nb::none(), nb::arg("bias") = nb::none(), nb::arg("scale") = nb::none(),
             nb::arg("softcap") = nb::none(), nb::arg("dropout") = nb::none(), nb::arg("sinks") = nb::none(),
             nb::arg("within") = nb::none(), kStage);
  module.def("merge_attention", &merged, nb::arg("parts"), nb::kw_only(), nb::arg("threads") = nb::none(), kMerge);
}

}  // namespace qkv::python
