// serve.h, answered by oneDNN's Graph API: scaled dot product attention as the one partition that its documentation
// describes, with grouped heads as a fifth axis. A mask is added, a causal one too: its
// implicit form (GenIndex, GreaterEqual, Select) took six times as long in 3.13.
#include <cmath>
#include <oneapi/dnnl/dnnl_graph.hpp>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "qkv/mask.h"
#include "server/added_mask.h"
#include "server/serve.h"

namespace {

using dnnl::graph::logical_tensor;
using dnnl::graph::op;
using Type = logical_tensor::data_type;
using qkv::bench::Problem;

Type type_of(qkv::DType dtype) {
  if (dtype == qkv::DType::f32) return Type::f32;
  return dtype == qkv::DType::bf16 ? Type::bf16 : Type::f16;
}

// The graph of one problem, and the edges that the caller fills.
struct Attention {
  explicit Attention(const Problem& problem) : type(type_of(problem.q.dtype())) {
    const std::int64_t b = problem.q.dim(0);
    const std::int64_t hk = problem.k.dim(1);
    const std::int64_t group = problem.q.dim(1) / hk;
    const std::int64_t tq = problem.q.dim(2);
    const std::int64_t tk = problem.k.dim(2);
    const std::int64_t d = problem.q.dim(3);
    const auto per_query = [&](std::int64_t width) {
      return group == 1 ? logical_tensor::dims{b, hk, tq, width} : logical_tensor::dims{b, hk, group, tq, width};
    };
    const auto per_key = group == 1 ? logical_tensor::dims{b, hk, tk, d} : logical_tensor::dims{b, hk, 1, tk, d};
    score_shape = per_query(tk);
    q = edge(type, per_query(d));
    k = edge(type, per_key);
    v = edge(type, per_key);
    out = edge(type, per_query(d));
    scale = edge(type, {1});
    const logical_tensor raw = scores(Type::f32);
    add(op::kind::MatMul, {q, k}, {raw}).set_attr<bool>(op::attr::transpose_b, true);
    const logical_tensor scaled = scores(Type::f32);
    add(op::kind::Multiply, {raw, scale}, {scaled});
    const logical_tensor weights = scores(type);
    op& softmax = add(op::kind::SoftMax, {problem.mask == "all()" ? scaled : with_mask(scaled, problem)}, {weights});
    softmax.set_attr<std::int64_t>(op::attr::axis, -1);
    softmax.set_attr<std::string>(op::attr::mode, "inf_as_zero");
    add(op::kind::MatMul, {weights, v}, {out});
  }

  Type type;
  logical_tensor q, k, v, scale, mask, out;
  std::vector<op> ops;

 private:
  logical_tensor edge(Type of, const logical_tensor::dims& dims) {
    return {next_id_++, of, dims, logical_tensor::layout_type::strided};
  }
  logical_tensor scores(Type of) { return edge(of, score_shape); }

  op& add(op::kind kind, const std::vector<logical_tensor>& inputs, const std::vector<logical_tensor>& outputs) {
    const std::size_t id = next_id_++;
    return ops.emplace_back(id, kind, inputs, outputs, "op" + std::to_string(id));
  }

  logical_tensor with_mask(const logical_tensor& scaled, const Problem& problem) {
    logical_tensor::dims shape(score_shape.size(), 1);
    if (qkv::parse_mask(problem.mask).varies_by_batch()) shape[0] = score_shape[0];
    shape.end()[-2] = score_shape.end()[-2];
    shape.end()[-1] = score_shape.end()[-1];
    mask = edge(type, shape);
    const logical_tensor kept = scores(Type::f32);
    add(op::kind::Add, {scaled, mask}, {kept});
    return kept;
  }

  logical_tensor::dims score_shape;
  std::size_t next_id_ = 0;
};

class OneDnn : public qkv::bench::Engine {
 public:
  void prepare(const Problem& problem) override {
    if (problem.call != qkv::bench::Call::forward) throw std::invalid_argument("no gradients here");
    if (problem.i8_cache) throw std::invalid_argument("no cache of 8 bits here");
    if (problem.dense_bias || problem.dropout != 0) throw std::invalid_argument("no dense bias or dropout here");
    const Attention attention(problem);
    dnnl::graph::graph graph(dnnl::engine::kind::cpu);
    for (const op& one : attention.ops) graph.add_op(one);
    graph.finalize();
    const auto partitions = graph.get_partitions();
    if (partitions.size() != 1 || !partitions[0].is_supported()) {
      throw std::runtime_error("taken as " + std::to_string(partitions.size()) + " partitions, not as one");
    }
    out_ = qkv::Tensor(problem.q.dtype(), problem.q.shape());
    scale_ = qkv::Tensor(std::vector<float>{1 / std::sqrt(static_cast<float>(problem.q.dim(3)))}, {1}).to(out_.dtype());
    if (problem.mask != "all()") mask_ = added_mask(problem, problem.q.dtype());
    const std::unordered_map<std::size_t, void*> places = {{attention.q.get_id(), const_cast<void*>(problem.q.data())},
                                                           {attention.k.get_id(), const_cast<void*>(problem.k.data())},
                                                           {attention.v.get_id(), const_cast<void*>(problem.v.data())},
                                                           {attention.scale.get_id(), scale_.data()},
                                                           {attention.mask.get_id(), mask_.data()}};
    const std::vector<logical_tensor> ports = partitions[0].get_input_ports();
    compiled_ = partitions[0].compile(ports, {attention.out}, engine_);
    inputs_.clear();
    for (const logical_tensor& port : ports) inputs_.emplace_back(port, engine_, places.at(port.get_id()));
    outputs_ = {{attention.out, engine_, out_.data()}};
  }

  void run(const Problem&) override {
    compiled_.execute(stream_, inputs_, outputs_);
    stream_.wait();
  }

  [[nodiscard]] std::vector<qkv::TensorView> results(const Problem&) const override { return {out_}; }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::graph::compiled_partition compiled_;
  std::vector<dnnl::graph::tensor> inputs_;
  std::vector<dnnl::graph::tensor> outputs_;
  qkv::Tensor out_;
  qkv::Tensor scale_;
  qkv::Tensor mask_;
};

}  // namespace

int main() {
  OneDnn engine;
  qkv::bench::serve(engine);
  return 0;
}
