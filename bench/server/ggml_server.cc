// serve.h, answered by the CPU backend of llama.cpp's ggml: a graph of one flash_attn_ext, planned before, on threads
// that wait for it. k and v have the problem's dtype, or ggml's of 8 bits, q8_0; q and out are f32 and the mask is f16,
// as in llama.cpp.
#include <ggml-cpu.h>
#include <ggml.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "server/added_mask.h"
#include "server/serve.h"

namespace {

using qkv::bench::Problem;

struct FreeContext {
  void operator()(ggml_context* context) const { ggml_free(context); }
};

struct FreeThreads {
  void operator()(ggml_threadpool* threads) const { ggml_threadpool_free(threads); }
};

ggml_type type_of(qkv::DType dtype) {
  if (dtype == qkv::DType::f32) return GGML_TYPE_F32;
  return dtype == qkv::DType::bf16 ? GGML_TYPE_BF16 : GGML_TYPE_F16;
}

// [B, H, T, D] as it lies at `data`. ggml names the last axis first.
ggml_tensor* tensor_at(const void* data, ggml_type type, ggml_context* context, const qkv::Shape& shape) {
  ggml_tensor* tensor = ggml_new_tensor_4d(context, type, shape[3], shape[2], shape[1], shape[0]);
  tensor->data = const_cast<void*>(data);
  return tensor;
}

ggml_tensor* tensor_of(ggml_context* context, const qkv::Tensor& x) {
  return tensor_at(x.data(), type_of(x.dtype()), context, x.shape());
}

// Blocks of 32 elements with a scale in f16.
qkv::Tensor in_q8_0(const qkv::Tensor& x) {
  const std::int64_t rows = x.size() / x.dim(3);
  const auto row_bytes = static_cast<std::int64_t>(ggml_row_size(GGML_TYPE_Q8_0, x.dim(3)));
  qkv::Tensor blocks(qkv::DType::i8, {rows * row_bytes});
  ggml_quantize_chunk(GGML_TYPE_Q8_0, static_cast<const float*>(x.data()), blocks.data(), 0, rows, x.dim(3), nullptr);
  return blocks;
}

class Ggml : public qkv::bench::Engine {
 public:
  void prepare(const Problem& problem) override {
    if (problem.call != qkv::bench::Call::forward) throw std::invalid_argument("no gradients here");
    if (problem.dense_bias || problem.dropout != 0) throw std::invalid_argument("no dense bias or dropout here");
    q_ = problem.q.to(qkv::DType::f32);
    mask_ = problem.mask == "all()" ? qkv::Tensor() : added_mask(problem, qkv::DType::f16);
    out_ = qkv::Tensor(qkv::DType::f32, {q_.dim(0), q_.dim(2), q_.dim(1), problem.v.dim(3)});
    build_graph(problem);
    plan(problem.threads);
  }

  void run(const Problem&) override {
    if (ggml_graph_compute(graph_, &plan_) != GGML_STATUS_SUCCESS)
      throw std::runtime_error("ggml_graph_compute failed");
  }

  void rest() override { ggml_threadpool_pause(threads_.get()); }

  [[nodiscard]] std::vector<qkv::TensorView> results(const Problem&) const override {
    return {out_.view().transpose(1, 2)};
  }

 private:
  static constexpr std::size_t kMostTensors = 8;

  void build_graph(const Problem& problem) {
    const std::size_t bytes = kMostTensors * ggml_tensor_overhead() + ggml_graph_overhead();
    context_.reset(ggml_init({.mem_size = bytes, .mem_buffer = nullptr, .no_alloc = true}));
    ggml_tensor* mask = mask_.size() == 0 ? nullptr : tensor_of(context_.get(), mask_);
    const float scale = 1 / std::sqrt(static_cast<float>(q_.dim(3)));
    ggml_tensor* k = kept(problem.k, problem.i8_cache, k_blocks_);
    ggml_tensor* v = kept(problem.v, problem.i8_cache, v_blocks_);
    ggml_tensor* out = ggml_flash_attn_ext(context_.get(), tensor_of(context_.get(), q_), k, v, mask, scale, 0, 0);
    if (!ggml_prec_set_acc(out, GGML_PREC_F32)) throw std::runtime_error("flash_attn_ext has no sums in f32");
    out->data = out_.data();
    graph_ = ggml_new_graph(context_.get());
    ggml_build_forward_expand(graph_, out);
  }

  ggml_tensor* kept(const qkv::Tensor& x, bool i8_cache, qkv::Tensor& blocks) {
    if (!i8_cache) return tensor_of(context_.get(), x);
    blocks = in_q8_0(x);
    return tensor_at(blocks.data(), GGML_TYPE_Q8_0, context_.get(), x.shape());
  }

  void plan(int threads) {
    ggml_threadpool_params params = ggml_threadpool_params_default(threads);
    threads_.reset(ggml_threadpool_new(&params));
    plan_ = ggml_graph_plan(graph_, threads, threads_.get());
    work_ = qkv::Tensor(qkv::DType::f32, {static_cast<std::int64_t>(plan_.work_size / sizeof(float) + 1)});
    plan_.work_data = static_cast<std::uint8_t*>(work_.data());
  }

  qkv::Tensor q_;
  qkv::Tensor k_blocks_, v_blocks_;  // in q8_0
  qkv::Tensor mask_;
  qkv::Tensor out_;   // [B, Tq, Hq, Dv]
  qkv::Tensor work_;  // aligned for vectors, which ggml's own need not be
  std::unique_ptr<ggml_context, FreeContext> context_;
  std::unique_ptr<ggml_threadpool, FreeThreads> threads_;
  ggml_cgraph* graph_ = nullptr;  // in context_
  ggml_cplan plan_{};
};

}  // namespace

int main() {
  Ggml engine;
  qkv::bench::serve(engine);
  return 0;
}
