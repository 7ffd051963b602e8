// Direct contributions to a logit: the residual stream is a sum, and the final norm, held as it ran, is linear in it
// (Elhage et al. 2021, "A mathematical framework for transformer circuits").
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "explain/numbers.h"
#include "explain/trained/path.h"

namespace qkv::explain_detail {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

const Parameter* parameter(const Parameters& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Parameter::name);
  return found == all.end() ? nullptr : &*found;
}

Vector vector_of(const Parameters& all, const std::string& name) {
  const Parameter* const found = parameter(all, name);
  return found == nullptr ? Vector() : found->value.value().to_vector();
}

class Contributions {
 public:
  Contributions(const Ran& ran, const Answer& answer)
      : trace_(ran.trace),
        answer_(answer),
        stack_(stack_of(ran.trained)),
        parameters_(ran.trained.model().parameters()) {
    for (const std::string& block : blocks_of(trace_)) {
      if (block.starts_with(stack_ + "blocks.")) blocks_.push_back(block);
    }
    find_direction();
  }

  [[nodiscard]] bool is_sound() const { return !direction_.empty(); }

  [[nodiscard]] Table by_layer() {
    Table table{"", {"part"}, {}};
    for (std::size_t n = 0; n < blocks_.size(); ++n) table.columns.push_back(fmt::format("layer {}", n));
    add_attention(table, "attn", "");
    add_attention(table, "cross", "cross, ");
    add_row(table, "feed-forward", [&](const std::string& block) { return of_value(block + ".ffn"); });
    return table;
  }

  [[nodiscard]] Table of_the_rest() {
    Table table{"", {"part", "logit"}, {}};
    const double layers = sum_;
    const double embedding = of_value(blocks_.front() + ".resid_pre");
    sum_ += embedding + constant_;
    table.rows = {{word("embedding and position"), rounded(embedding, 3)},
                  {word("all layers"), rounded(layers, 3)},
                  {word("bias of the final norm"), rounded(constant_, 3)},
                  {word("sum"), rounded(sum_, 3)}};
    return table;
  }

  [[nodiscard]] double sum() const { return sum_; }

 private:
  [[nodiscard]] Vector row_of(const std::string& name) const {
    return trace_[name].view().select(0, 0).select(0, answer_.row).to_vector();
  }

  // What the final norm did to this row is a factor: y = (x - mean) * factor * weight + bias.
  void find_direction() {
    const Vector weight = vector_of(parameters_, stack_ + "ln_final.weight");
    const Parameter* table = parameter(parameters_, stack_ + "output.weight");
    if (table == nullptr) table = parameter(parameters_, stack_ + "embedding.weight");
    if (table == nullptr) table = parameter(parameters_, "encoder.embedding.weight");  // one for both stacks
    if (weight.empty() || table == nullptr || blocks_.empty()) return;
    Vector bias = vector_of(parameters_, stack_ + "ln_final.bias");
    const bool is_centred = !bias.empty();
    bias.resize(weight.size());
    const Vector token = table->value.value().select(0, answer_.token).to_vector();
    const Vector x = row_of(blocks_.back() + ".resid_post");
    const Vector y = row_of(stack_ + "ln_final");
    const auto width = static_cast<double>(x.size());
    const double mean = is_centred ? std::accumulate(x.begin(), x.end(), 0.0) / width : 0;
    double above = 0;
    double below = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double normal = (x[i] - mean) * weight[i];
      above += (y[i] - bias[i]) * normal;
      below += normal * normal;
    }
    direction_.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) direction_[i] = above / below * weight[i] * token[i];
    const double middle = is_centred ? std::accumulate(direction_.begin(), direction_.end(), 0.0) / width : 0;
    for (double& value : direction_) value -= middle;
    constant_ = dot(bias, token);
  }

  [[nodiscard]] double of_value(const std::string& name) const { return dot(direction_, row_of(name)); }

  template <class Value>
  void add_row(Table& table, const std::string& name, const Value& value) {
    std::vector<Cell> row = {word(name)};
    for (const std::string& block : blocks_) {
      const double part = value(block);
      sum_ += part;
      row.push_back(rounded(part, 3));
    }
    table.rows.push_back(std::move(row));
  }

  // Each head's output through its columns of W_O, [d_model, H * Dv].
  void add_attention(Table& table, const std::string& name, const std::string& title) {
    if (!trace_.contains(fmt::format("{}.{}.heads", blocks_.front(), name))) return;
    const std::int64_t heads = trace_[fmt::format("{}.{}.heads", blocks_.front(), name)].dim(1);
    for (std::int64_t h = 0; h < heads; ++h) {
      add_row(table, fmt::format("{}head {}", title, h), [&](const std::string& block) {
        const std::string attention = fmt::format("{}.{}", block, name);
        const Vector out =
            trace_[attention + ".heads"].view().select(0, 0).select(0, h).select(0, answer_.row).to_vector();
        const TensorView weight = parameter(parameters_, attention + ".out.weight")->value.value();
        const auto width = static_cast<std::int64_t>(out.size());
        double part = 0;
        for (std::int64_t d = 0; d < width; ++d) {
          part += out[static_cast<std::size_t>(d)] * dot(direction_, weight.select(1, h * width + d).to_vector());
        }
        return part;
      });
    }
    const std::string bias = name + ".out.bias";
    if (parameter(parameters_, fmt::format("{}.{}", blocks_.front(), bias)) == nullptr) return;
    add_row(table, title + "bias of W_O", [&](const std::string& block) {
      return dot(direction_, vector_of(parameters_, fmt::format("{}.{}", block, bias)));
    });
  }

  const Trace& trace_;
  const Answer& answer_;
  std::string stack_;
  Parameters parameters_;
  std::vector<std::string> blocks_;
  Vector direction_;  // empty: the logit is no sum
  double constant_ = 0;
  double sum_ = 0;
};

}  // namespace

std::optional<Section> parts_step(const Ran& ran, const Answer& answer) {
  Contributions contributions(ran, answer);
  if (!contributions.is_sound()) return std::nullopt;
  Section step;
  step.id = "parts";
  step.title = fmt::format("What adds up to the logit of “{}”", answer.text);
  step.text =
      "The residual stream is a sum, and with the final norm's factor held as it ran the logit is a sum, too: of each "
      "part, the product with the token's embedding. This is the direct share; what a part does through later layers "
      "is counted there.";
  step.tables.push_back(contributions.by_layer());
  step.tables.push_back(contributions.of_the_rest());
  const double logit = scores_at(ran, ran.trace, answer)[static_cast<std::size_t>(answer.token)];
  step.tables.back().rows.push_back({word("as the model computed it"), rounded(logit, 3)});
  return step;
}

}  // namespace qkv::explain_detail
