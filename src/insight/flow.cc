#include <algorithm>
#include <limits>
#include <queue>

#include "core/watched.h"
#include "insight/mixed_layers.h"
#include "qkv/insight/rollout.h"

namespace qkv {
namespace {

constexpr const char* kFlow = "attention_flow";
constexpr double kNothing = 1e-12;  // of a capacity; weights are shares of 1

/// Places of all layers, and what may pass between them. Its flows are the largest that there are, by Dinic's algorithm
/// (Dinitz 1970): along shortest paths, all of one length at a time.
class Network {
 public:
  Network(std::size_t nodes, std::size_t edges) : first_(nodes, kNone), level_(nodes), next_(nodes) {
    edges_.reserve(2 * edges);
  }

  void connect(std::size_t from, std::size_t to, double capacity) {
    edges_.push_back({.to = to, .next = first_[from], .capacity = capacity, .left = capacity});
    first_[from] = edges_.size() - 1;
    edges_.push_back({.to = from, .next = first_[to], .capacity = 0, .left = 0});
    first_[to] = edges_.size() - 1;
  }

  double largest_flow(std::size_t source, std::size_t sink) {
    for (Edge& edge : edges_) edge.left = edge.capacity;
    double flow = 0;
    while (find_levels(source, sink)) {
      core::look();
      next_ = first_;
      double more = 0;
      do {
        more = push(source, sink, std::numeric_limits<double>::infinity());
        flow += more;
      } while (more > 0);
    }
    return flow;
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Edge {
    std::size_t to = 0;
    std::size_t next = kNone;  // of the same node
    double capacity = 0;
    double left = 0;
  };

  bool find_levels(std::size_t source, std::size_t sink) {
    std::ranges::fill(level_, kNone);
    level_[source] = 0;
    std::queue<std::size_t> open({source});
    while (!open.empty()) {
      const std::size_t node = open.front();
      open.pop();
      for (std::size_t e = first_[node]; e != kNone; e = edges_[e].next) {
        if (edges_[e].left <= kNothing || level_[edges_[e].to] != kNone) continue;
        level_[edges_[e].to] = level_[node] + 1;
        open.push(edges_[e].to);
      }
    }
    return level_[sink] != kNone;
  }

  double push(std::size_t node, std::size_t sink, double most) {
    if (node == sink) return most;
    for (std::size_t& e = next_[node]; e != kNone; e = edges_[e].next) {
      Edge& edge = edges_[e];
      if (edge.left <= kNothing || level_[edge.to] != level_[node] + 1) continue;
      const double pushed = push(edge.to, sink, std::min(most, edge.left));
      if (pushed <= 0) continue;
      edge.left -= pushed;
      edges_[e ^ 1U].left += pushed;
      return pushed;
    }
    return 0;
  }

  std::vector<Edge> edges_;  // each beside its reverse
  std::vector<std::size_t> first_;
  std::vector<std::size_t> level_;
  std::vector<std::size_t> next_;
};

}  // namespace

Tensor attention_flow(std::span<const TensorView> layers) {
  const std::vector<insight::LayerRows> mixed = insight::mixed_layers(layers, kFlow);
  const std::size_t T = mixed.front().size();
  Network network((mixed.size() + 1) * T, mixed.size() * T * T);
  for (std::size_t layer = 0; layer < mixed.size(); ++layer) {
    for (std::size_t i = 0; i < T; ++i) {
      for (std::size_t j = 0; j < T; ++j) {
        if (mixed[layer][i][j] > kNothing) network.connect((layer + 1) * T + i, layer * T + j, mixed[layer][i][j]);
      }
    }
  }
  insight::LayerRows flow(T, std::vector<double>(T));
  for (std::size_t i = 0; i < T; ++i) {
    for (std::size_t j = 0; j < T; ++j) flow[i][j] = network.largest_flow(mixed.size() * T + i, j);
  }
  return insight::matrix_of(flow);
}

Tensor attention_flow(const Model& model, const HeadText& text, AttentionSite site) {
  const std::vector<Tensor> weights = insight::self_attention_of(model, text, site, kFlow);
  return attention_flow(std::vector<TensorView>(weights.begin(), weights.end()));
}

}  // namespace qkv
