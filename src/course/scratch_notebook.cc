#include "course/scratch_notebook.h"

#include <fmt/format.h>

#include <cmath>

#include "course/pieces.h"
#include "course/seeds.h"
#include "explain/plain.h"
#include "explain/target.h"
#include "qkv/heads.h"
#include "qkv/nn/position.h"
#include "qkv/random.h"

namespace qkv::worked {
namespace {

using explain_detail::matmul;

const std::vector<std::string>& tokens() {
  static const std::vector<std::string> kNotebookTokens = {"The", "cat", "sat", "down"};
  return kNotebookTokens;
}

WorkedTensor by_token(std::string name, Tensor values, int decimals = 4) {
  return shown(std::move(name), std::move(values), tokens(), {}, decimals);
}

WorkedTensor square(std::string name, Tensor values, int decimals = 4) {
  return shown(std::move(name), std::move(values), tokens(), tokens(), decimals);
}

template <class Function>
Tensor mapped(const TensorView& a, const TensorView& b, Function function) {
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  std::vector<double> values(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) values[i] = function(left[i], right[i]);
  return {Tensor(values, a.shape()), a.dtype()};
}

Tensor sum_of(const TensorView& a, const TensorView& b) {
  return mapped(a, b, [](double left, double right) { return left + right; });
}

/// randn(shape) * 0.1 in f32.
Tensor tenth_of_randn(Generator& generator, const Shape& shape) {
  Tensor values = generator.randn(shape);
  for (float& value : values.values<float>()) value *= 0.1F;
  return values;
}

void pipeline(Worked& worked) {
  const ScratchNotebook book = draw_scratch_notebook();
  const Tensor q = matmul(book.x, book.w_q);
  const Tensor k = matmul(book.x, book.w_k);
  const Tensor v = matmul(book.x, book.w_v);
  const OneHead head = one_head(q, k, v);
  worked.steps = {
      {"Embedding", "rows 0, 1, 2, 3 of randn(4, 8), seed 42", "", {by_token("embedding", book.embedding)}},
      {"Positions", "sin and cos of pos / 10000^(2i / 8)", "", {by_token("positions", book.positions)}},
      {"Input", "X = embedding + positions", "", {by_token("X", book.x)}},
      {"Projections",
       "Q = X W_Q, K = X W_K, V = X W_V",
       "Each W is randn(8, 6) * 0.1.",
       {by_token("Q", q), by_token("K", k), by_token("V", v)}},
      {"Raw scores", "Q K^T", "", {square("scores", head.raw)}},
      {"Scaled scores", "Q K^T / sqrt(6) = Q K^T / 2.4495", "", {square("scaled", head.scaled)}},
      {"Weights",
       "softmax of each row",
       "With weights this small the rows are all but even.",
       {square("weights", head.weights)}},
      {"Output", "weights · V", "", {by_token("output", head.out)}},
  };
  const double difference = largest_difference(head.out, matmul(head.weights, v));
  worked.claims = {
      statement("section 1.2, the cell as it stands", "get_positional_encoding(seq_len, d_model)",
                fmt::format("seq_len = {}, the number of tokens", q.dim(0)), Holds::no,
                "No cell assigns seq_len: run as printed, the notebook stops here with a NameError."),
      statement("section 3d, matches step by step, atol 1e-6", "True",
                fmt::format("largest difference {}", bound_text(difference)), holds_if(difference <= 1e-6)),
      statement("section 3b, scale factor", "sqrt(6), to be printed with four decimals", text_of(std::sqrt(6.0), 4),
                holds_if(q.dim(1) == 6)),
      figure("section 3c, the example row [0.1, 0.5, 0.3, 0.1] is a row of weights: its sum", "1",
             0.1 + 0.5 + 0.3 + 0.1),
  };
}

void causal_mask(Worked& worked) {
  const ScratchNotebook book = draw_scratch_notebook();
  const Tensor q = matmul(book.x, book.w_q);
  const Tensor k = matmul(book.x, book.w_k);
  const Tensor v = matmul(book.x, book.w_v);
  const AttentionOptions options{.mask = causal()};
  const OneHead open = one_head(q, k, v);
  const OneHead masked = one_head(q, k, v, options);
  const Tensor scores = as_matrix(attention_stage(as_head(q), as_head(k), options, Stage::masked));
  worked.steps = {
      {"Without the mask", "softmax(Q K^T / sqrt(6))", "", {square("weights", open.weights, 2)}},
      {"Masked scores", "-inf where the key comes after the query", "", {square("masked", scores, 2)}},
      {"With the mask",
       "softmax of each row",
       "Each row still sums to 1, over what it may see.",
       {square("weights", masked.weights, 2), by_token("output", masked.out)}},
  };
  std::string table;
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      table += std::isinf(scores.at({i, j})) ? "-inf" : "ok";
      table += j < 3 ? " " : (i < 3 ? " / " : "");
    }
  }
  const std::string printed = "ok -inf -inf -inf / ok ok -inf -inf / ok ok ok -inf / ok ok ok ok";
  worked.claims = {
      statement("section 4, the table of what each token sees", printed, table, holds_if(table == printed)),
      figure("section 4, weights of The: the future is 0.00", "[1.00, 0.00, 0.00, 0.00]",
             masked.weights.view().select(0, 0)),
  };
}

std::vector<OneHead> loop_over_heads(const ScratchNotebook& book) {
  std::vector<OneHead> heads;
  for (std::size_t h = 0; h < 2; ++h) {
    heads.push_back(
        one_head(matmul(book.x, book.head_q[h]), matmul(book.x, book.head_k[h]), matmul(book.x, book.head_v[h])));
  }
  return heads;
}

Tensor beside(const TensorView& left, const TensorView& right) {
  Tensor both(left.dtype(), {left.dim(0), left.dim(1) + right.dim(1)});
  for (std::int64_t i = 0; i < left.dim(0); ++i) {
    std::vector<double> row = left.select(0, i).to_vector();
    const std::vector<double> rest = right.select(0, i).to_vector();
    row.insert(row.end(), rest.begin(), rest.end());
    both.store_row(std::vector<std::int64_t>{i}, row);
  }
  return both;
}

void heads_one_by_one(Worked& worked) {
  const ScratchNotebook book = draw_scratch_notebook();
  const std::vector<OneHead> heads = loop_over_heads(book);
  const Tensor concat = beside(heads[0].out, heads[1].out);
  const Tensor output = matmul(concat, book.w_o);
  worked.steps = {
      {"Each head on its own",
       "softmax(Q_i K_i^T / sqrt(4)) V_i",
       "W_Qs, then W_Ks, then W_Vs are drawn, two each.",
       {square("head 0", heads[0].weights), square("head 1", heads[1].weights)}},
      {"Concatenation", "[head 0, head 1]", "", {by_token("concat", concat)}},
      {"Output projection", "concat · W_O", "", {by_token("output", output)}},
  };
  worked.claims = {
      figure("section 5, n_heads, d_k_per_head, d_v_per_head", "2, 4, 4", vector_of({2, 8 / 2.0, 8 / 2.0})),
      statement("section 5, shape of the concatenation and of the output", "(seq_len, d_model)",
                concat.shape().to_string() + ", " + output.shape().to_string(),
                holds_if(concat.shape() == Shape{4, 8} && output.shape() == Shape{4, 8})),
  };
}

struct Packed {
  AttentionResult attention;
  Tensor weights;  // [1, 2, 4, 4]
  Tensor output;   // [4, 8]
};

Packed packed_heads(const TensorView& x, const TensorView& w_q, const TensorView& w_k, const TensorView& w_v,
                    const TensorView& w_o) {
  const Tensor q = matmul(x, w_q);
  const Tensor k = matmul(x, w_k);
  const Tensor v = matmul(x, w_v);
  const auto split = [](const Tensor& tensor) { return split_heads(tensor.view().unsqueeze(0), 2); };
  AttentionResult result = attention(split(q), split(k), split(v), {.target = explain_detail::kTarget});
  Tensor output = matmul(merge_heads(result.out).view().select(0, 0), w_o);
  return {std::move(result), attention_stage(split(q), split(k), {}, Stage::weights, DType::f32), std::move(output)};
}

void heads_packed(Worked& worked) {
  const ScratchNotebook book = draw_scratch_notebook();
  const Packed packed = packed_heads(book.x, book.packed_q, book.packed_k, book.packed_v, book.packed_o);
  const std::vector<OneHead> looped = loop_over_heads(book);
  const Packed same =
      packed_heads(book.x, beside(book.head_q[0], book.head_q[1]), beside(book.head_k[0], book.head_k[1]),
                   beside(book.head_v[0], book.head_v[1]), book.w_o);
  const Tensor by_loop = matmul(beside(looped[0].out, looped[1].out), book.w_o);
  const double difference = largest_difference(same.output, by_loop);
  worked.steps = {
      {"Packed projections",
       "X W_Q, W_Q of [8, 8], seen as 2 heads of 4",
       "",
       {square("head 0", Tensor(packed.weights.view().select(0, 0).select(0, 0))),
        square("head 1", Tensor(packed.weights.view().select(0, 0).select(0, 1))), by_token("output", packed.output)}},
      {"The loop's weights, packed side by side",
       "W_Q = [W_Q of head 0, W_Q of head 1]",
       "The reshape is another order of the same work.",
       {by_token("output", same.output)}},
  };
  worked.claims = {
      statement("section 6, shape of the output and of the weights", "(seq_len, d_model), (n_heads, seq_len, seq_len)",
                packed.output.shape().to_string() + ", " + packed.weights.view().select(0, 0).shape().to_string(),
                holds_if(packed.output.shape() == Shape{4, 8} && packed.weights.shape() == Shape{1, 2, 4, 4})),
      statement("section 6, the packed form does what the loop does", "the same, but faster",
                fmt::format("with the loop's weights: largest difference {}", bound_text(difference)),
                // Two f32 roundings of sums of 8 products, each below 1.
                holds_if(difference <= 16 * 0x1p-24)),
  };
}

void shuffled_tokens(Worked& worked) {
  const ScratchNotebook book = draw_scratch_notebook();
  const std::vector<std::int64_t> order = {2, 0, 3, 1};
  const auto shuffle = [&](const TensorView& rows) {
    Tensor result(rows.dtype(), rows.shape());
    for (std::size_t i = 0; i < order.size(); ++i) {
      result.store_row(std::vector<std::int64_t>{static_cast<std::int64_t>(i)}, rows.select(0, order[i]).to_vector());
    }
    return result;
  };
  const auto output_for = [&](const TensorView& x) {
    return one_head(matmul(x, book.w_q), matmul(x, book.w_k), matmul(x, book.w_v)).out;
  };
  const Tensor plain = output_for(book.embedding);
  const Tensor of_shuffled = output_for(shuffle(book.embedding));
  worked.steps = {
      {"Tokens in order, without positions", "attention(embedding)", "", {by_token("output", plain)}},
      {"The same tokens in another order",
       "attention(P · embedding)",
       "",
       {shown("output", of_shuffled, {"sat", "The", "down", "cat"}, {})}},
  };
  const double moved = largest_difference(plain, of_shuffled);
  const double equivariant = largest_difference(shuffle(plain), of_shuffled);
  worked.claims = {
      statement("section 1.2, what a new order of the tokens does to the output", "permutation-invariant",
                fmt::format("the output changes by {:.4f}; its rows in the new order differ by {}", moved,
                            bound_text(equivariant)),
                Holds::no,
                "Equivariant: the rows of the output follow the tokens, each row's numbers stay. The chapter (002, "
                "section 8) says it right.")};
}

void rows_of_a_product(Worked& worked) {
  const Tensor x = matrix_of({{2, -1}});
  const Tensor w = matrix_of({{1, 2, 3}, {10, 20, 30}});
  const Tensor product = matmul(x, w);
  const Tensor of_rows = mapped(w.view().slice(0, 0, 1), w.view().slice(0, 1, 2),
                                [](double first, double second) { return 2 * first - second; });
  worked.steps = {{"A row times a matrix", "[2, -1] W", "", {shown("W", w, 0), shown("product", product, 0)}},
                  {"The rows of W, weighted", "2 · W[0] - 1 · W[1]", "", {shown("sum of rows", of_rows, 0)}}};
  worked.claims = {statement("section 0.2, what each row of X W is made of",
                             "the columns of W, weighted by the row of X",
                             "2 · row 0 - 1 · row 1 = " + text_of(of_rows, 0) + ", the product " + text_of(product, 0),
                             Holds::no, "The rows of W: the row of X holds a weight for each of them.")};
}

}  // namespace

ScratchNotebook draw_scratch_notebook() {
  Generator generator(42);
  ScratchNotebook book;
  book.embedding = generator.randn({4, 8});
  book.positions = sinusoidal(4, 8, 10000.0, DType::f32);
  book.x = sum_of(book.embedding, book.positions);
  for (Tensor* w : {&book.w_q, &book.w_k, &book.w_v}) *w = tenth_of_randn(generator, {8, 6});
  for (auto* heads : {&book.head_q, &book.head_k, &book.head_v}) {
    for (Tensor& w : *heads) w = tenth_of_randn(generator, {8, 4});
  }
  book.w_o = tenth_of_randn(generator, {8, 8});
  for (Tensor* w : {&book.packed_q, &book.packed_k, &book.packed_v, &book.packed_o}) {
    *w = tenth_of_randn(generator, {8, 8});
  }
  return book;
}

std::vector<Entry> scratch_notebook() {
  return {
      {{"scratch", kScratch, "sections 1 to 3", "From text to the output of one head, seed 42",
        "The notebook prints no output; these are the numbers that it would print."},
       pipeline},
      {{"scratch-causal", kScratch, "section 4", "The causal mask on four tokens",
        "What each token sees, and its weights."},
       causal_mask},
      {{"scratch-heads", kScratch, "section 5", "Two heads, one after the other", "The loop over heads, seed 42."},
       heads_one_by_one},
      {{"scratch-packed", kScratch, "section 6", "Two heads, packed", "The reshape gives what the loop gives."},
       heads_packed},
      {{"scratch-order", kScratch, "section 1.2", "Attention and the order of tokens",
        "Without positions attention is permutation-equivariant, not invariant."},
       shuffled_tokens},
      {{"scratch-rows", kScratch, "section 0.2", "What a row of a product is made of",
        "Rows of the product combine rows of the matrix."},
       rows_of_a_product},
  };
}

}  // namespace qkv::worked
