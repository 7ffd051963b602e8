// What attention answers: a recurrent network's one state, and where queries, keys and values come from.
#include <fmt/format.h>

#include <cmath>

#include "core/exact_math.h"
#include "course/pieces.h"
#include "course/seeds.h"
#include "explain/plain.h"
#include "qkv/random.h"
#include "qkv/softmax.h"

namespace qkv::worked {
namespace {

using explain_detail::matmul;

constexpr std::int64_t kMemoryWidth = 8;

/// h_t = tanh(W h_(t-1) + U x_t), untrained, with the variance that PyTorch's nn.RNN starts with.
class Recurrent {
 public:
  explicit Recurrent(Generator& generator) : w_(drawn(generator)), u_(drawn(generator)) {}

  /// The state after the last row of x [T, 8].
  [[nodiscard]] std::vector<double> last_state(const Tensor& x) const {
    Tensor h(DType::f64, {1, kMemoryWidth});
    for (std::int64_t t = 0; t < x.dim(0); ++t) {
      const Tensor from_state = matmul(h, w_);
      const Tensor from_token = matmul(x.view().slice(0, t, t + 1), u_);
      for (std::int64_t d = 0; d < kMemoryWidth; ++d) {
        h.set({0, d}, core::tanh(from_state.at({0, d}) + from_token.at({0, d})));
      }
    }
    return h.to_vector();
  }

 private:
  static Tensor drawn(Generator& generator) {
    Tensor w = generator.randn({kMemoryWidth, kMemoryWidth}).to(DType::f64);
    for (double& value : w.values<double>()) value /= std::sqrt(3.0 * kMemoryWidth);
    return w;
  }

  Tensor w_;
  Tensor u_;
};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

/// How far the last state moves if one token is another.
double moved(const Recurrent& network, const Tensor& x, std::int64_t token, const Tensor& other) {
  Tensor changed = x;
  changed.store_row(std::vector<std::int64_t>{token}, other.to_vector());
  return distance(network.last_state(x), network.last_state(changed));
}

/// The weight of the first token of x if the last one asks for it: its query is the first one's key, 4 long.
double weight_of_first(const Tensor& x) {
  const Tensor first = Tensor(x.view().slice(0, 0, 1));
  double squares = 0;
  for (const double value : first.to_vector()) squares += value * value;
  Tensor scores = matmul(first, x.view().transpose(0, 1));
  for (double& score : scores.values<double>()) score *= 4 / std::sqrt(squares);
  return softmax(scores, 1).at({0, 0});
}

void bottleneck(Worked& worked) {
  constexpr std::int64_t kLongest = 64;
  Generator generator(42);
  const Recurrent network(generator);
  const Tensor x = generator.randn({kLongest, kMemoryWidth}).to(DType::f64);
  const Tensor other = generator.randn({kMemoryWidth}).to(DType::f64);
  Rows rows;
  std::vector<std::string> lengths;
  for (std::int64_t t = 2; t <= kLongest; t *= 2) {
    const Tensor text = Tensor(x.view().slice(0, 0, t));
    rows.push_back({moved(network, text, 0, other), moved(network, text, t - 1, other), weight_of_first(text)});
    lengths.push_back(fmt::format("{} tokens", t));
  }
  const std::vector<double>& longest = rows.back();
  worked.steps = {
      {"A recurrent network carries one state",
       "h_t = tanh(W h_u + U x_t), u = t - 1",
       "Token after token is folded into the same 8 numbers: the way from the first token to the last state is as long "
       "as the text. Attention keeps a key and a value of each token, and a query reaches any of them in one step.",
       {}},
      {"What is left of the first token",
       "",
       "How far the RNN's last state moves if the first token, or the last, is replaced by another; and the weight "
       "that "
       "attention gives the first token if the last one's query asks for it.",
       {shown("first, last replaced; weight", matrix_of(rows), lengths, {"RNN first", "RNN last", "weight"})}},
  };
  worked.claims = {
      statement("003, what must represent everything", "one vector of fixed size",
                fmt::format("{0} numbers after 2 tokens and {0} after {1}; attention keeps {2} keys and values for {1}",
                            kMemoryWidth, kLongest, 2 * kMemoryWidth * kLongest),
                Holds::yes),
      statement("004, the old way", "information degrades over distance",
                fmt::format("replacing the first token moves the last state by {:.4f} after 2 tokens, by {} after {}",
                            rows.front()[0], bound_text(longest[0]), kLongest),
                holds_if(longest[0] < 1e-3 * rows.front()[0])),
      statement("003, what is lost", "later words forgotten",
                fmt::format("after {} tokens the last word moves the state by {:.4f}, the first by {}", kLongest,
                            longest[1], bound_text(longest[0])),
                Holds::no, "The earlier words are forgotten: the last one is nearest to the state."),
      statement(
          "004, the attention way", "direct access to entire history",
          fmt::format("a query that asks for the first of {} tokens gives it the weight {:.3f}", kLongest, longest[2]),
          holds_if(longest[2] > 0.5)),
  };
}

void self_and_cross(Worked& worked) {
  const std::vector<std::string> text = {"The", "cat", "sat", "on", "the", "mat"};
  const std::vector<std::string> other = {"Le", "chat"};
  Generator generator(42);
  const auto draw = [&](std::int64_t rows) { return generator.randn({rows, kMemoryWidth}).to(DType::f64); };
  const Tensor x = draw(6);
  const Tensor y = draw(2);
  Tensor w_q = draw(kMemoryWidth);
  Tensor w_k = draw(kMemoryWidth);
  const Tensor w_v = draw(kMemoryWidth);
  for (Tensor* w : {&w_q, &w_k}) {
    for (double& value : w->values<double>()) value /= std::sqrt(double{kMemoryWidth});
  }
  const Tensor k = matmul(x, w_k);
  const Tensor v = matmul(x, w_v);
  const OneHead self = one_head(matmul(x, w_q), k, v);
  const OneHead cross = one_head(matmul(y, w_q), k, v);
  worked.steps = {
      {"Self-attention",
       "Q = X W_Q, K = X W_K, V = X W_V",
       "Queries, keys and values come from one text: each word asks all words of its own text, itself among them.",
       {shown("self weights", self.weights, text, text, 3)}},
      {"Cross-attention over the same text",
       "Q = Y W_Q, K = X W_K, V = X W_V",
       "The queries come from another text, and the keys and values are the very same: as many rows as that text has "
       "words, as many columns as before.",
       {shown("cross weights", cross.weights, other, text, 3)}},
  };
  worked.claims = {
      statement("self-attention, the keys of cat", "The, cat, sat, on, the, mat",
                fmt::format("{} weights of cat, one for each word", self.weights.dim(1)),
                holds_if(self.weights.shape() == Shape{6, 6})),
      statement("cross-attention", "query from one sequence, key and value from another",
                fmt::format("weights {}, output {}", cross.weights.shape().to_string(), cross.out.shape().to_string()),
                holds_if(cross.weights.shape() == Shape{2, 6} && cross.out.shape() == Shape{2, kMemoryWidth})),
  };
}

}  // namespace

std::vector<Entry> before_attention() {
  return {
      {{"rnn-bottleneck", kLabAndSlides, "The Problem: Fixed-Length Bottleneck; The Old Way",
        "The bottleneck of a recurrent network",
        "What is left of the first of 64 tokens in a state of 8 numbers, and what attention finds."},
       bottleneck},
      {{"self-cross", kLab, "Self-Attention vs Cross-Attention", "Self- and cross-attention over the same text",
        "The same keys and values, asked by the text itself and by another."},
       self_and_cross},
  };
}

}  // namespace qkv::worked
