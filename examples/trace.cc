// Inside a model: keep intermediates by name, ask for T x T matrices and gradients, then change the model's course.
#include <qkv/qkv.h>

#include <cstdio>

int main() {
  using namespace qkv;
  Generator random(1);
  const Decoder model({.vocabulary = 10, .layers = 2, .d_model = 32, .heads = 4}, random, DType::f64);
  const Tensor ids(std::vector<std::int64_t>{3, 1, 4, 1, 5, 9, 2, 6}, {1, 8});
  const Tensor next(std::vector<std::int64_t>{1, 4, 1, 5, 9, 2, 6, 5}, {1, 8});

  Trace trace({"blocks.*.attn.*", "logits"});
  const Variable loss = cross_entropy(model.forward(ids, {.dtype = DType::f64, .trace = &trace}), next);
  backward(loss);
  std::printf("loss %.4f; %zu values were kept\n", loss.value().at({}), trace.names().size());

  // A value of the forward pass, and the loss's gradient with respect to it.
  const Tensor q = trace["blocks.0.attn.q"];  // [B, Hq, Tq, D]
  const Tensor d_q = trace.gradient("blocks.0.attn.q");
  std::printf("q %s: %.4f, its gradient %.6f\n", q.shape().to_string().c_str(), q.at({0, 2, 7, 0}),
              d_q.at({0, 2, 7, 0}));

  // A T x T matrix is computed when it is asked for.
  const Tensor weights = trace["blocks.1.attn.weights"];  // [B, Hq, Tq, Tk]
  std::printf("head 2 of layer 1, last query:");
  for (const double weight : weights.select(0, 0).select(0, 2).select(0, 7).to_vector()) std::printf(" %.3f", weight);
  std::printf("\n");

  // What the loss becomes without that head.
  Trace without(std::vector<std::string>{});  // keeps nothing, only edits
  without.edit_heads("blocks.1.attn.weights", {2}, [](const Variable& w) { return w * 0.0; });
  const Variable other = model.forward(ids, {.dtype = DType::f64, .trace = &without});
  std::printf("loss without the head %.4f\n", cross_entropy(other, next).value().at({}));

  // Activation patching: the residual stream of another text at one place.
  const Tensor foreign(std::vector<std::int64_t>{3, 1, 4, 1, 5, 9, 2, 7}, {1, 8});
  Trace source({"blocks.0.resid_post"});
  const Variable expected = model.forward(foreign, {.dtype = DType::f64, .trace = &source});
  Trace patched(std::vector<std::string>{});
  patched.edit("blocks.0.resid_post", [&](const Variable&) { return Variable(source["blocks.0.resid_post"]); });
  const Variable moved = model.forward(ids, {.dtype = DType::f64, .trace = &patched});
  const bool same = moved.value().at({0, 7, 5}) == expected.value().at({0, 7, 5});
  std::printf("with the whole residual stream patched, the model answers for the other text: %s\n",
              same ? "yes" : "no");
  return same ? 0 : 1;
}
