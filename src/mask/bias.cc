#include "qkv/bias.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "mask/bias_node.h"

namespace qkv {
namespace {

class Zero final : public bias_detail::Node {
 public:
  [[nodiscard]] double at(const Place& /*place*/, const MaskShape& /*shape*/) const override { return 0; }
  void add_row(const Place& /*first*/, std::span<double> /*row*/, const MaskShape& /*shape*/) const override {}
  void add_tile(const Tile& /*tile*/, double* /*rows*/, std::int64_t /*row_stride*/,
                const MaskShape& /*shape*/) const override {}
  [[nodiscard]] std::string to_string() const override { return "zero"; }
  [[nodiscard]] bool is_zero() const override { return true; }
};

class Sum final : public bias_detail::Node {
 public:
  explicit Sum(std::vector<Bias> terms) : terms_(std::move(terms)) {}

  [[nodiscard]] double at(const Place& place, const MaskShape& shape) const override {
    double sum = 0;
    for (const Bias& term : terms_) sum += term.at(place, shape);
    return sum;
  }
  void add_row(const Place& first, std::span<double> row, const MaskShape& shape) const override {
    for (const Bias& term : terms_) term.add_row(first, row, shape);
  }
  void add_tile(const Tile& tile, double* rows, std::int64_t row_stride, const MaskShape& shape) const override {
    for (const Bias& term : terms_) term.node().add_tile(tile, rows, row_stride, shape);
  }
  void validate(const MaskShape& shape) const override {
    for (const Bias& term : terms_) term.validate(shape);
  }
  [[nodiscard]] std::string to_string() const override {
    std::string text;
    for (const Bias& term : terms_) text.append(text.empty() ? "" : " + ").append(term.to_string());
    return text;
  }
  [[nodiscard]] const std::vector<Bias>* terms_of_sum() const override { return &terms_; }

 private:
  std::vector<Bias> terms_;
};

const std::shared_ptr<const bias_detail::Node>& zero_node() {
  static const std::shared_ptr<const bias_detail::Node> kNode = std::make_shared<const Zero>();
  return kNode;
}

}  // namespace

double bias_detail::as_taken(double bias, DType dtype) {
  if (dtype == DType::f64) return bias;
  const auto rounded = static_cast<double>(static_cast<float>(bias));
  return std::isinf(rounded) ? rounded : bias;
}

void bias_detail::Node::add_row(const Place& first, std::span<double> row, const MaskShape& shape) const {
  Place place = first;
  for (double& value : row) {
    value += at(place, shape);
    ++place.j;
  }
}

void bias_detail::Node::add_tile(const Tile& tile, double* rows, std::int64_t row_stride,
                                 const MaskShape& shape) const {
  const auto keys = static_cast<std::size_t>(tile.j_end - tile.j_begin);
  for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i, rows += row_stride) {
    add_row({tile.b, tile.h, i, tile.j_begin}, {rows, keys}, shape);
  }
}

void bias_detail::Node::write_tile(const Tile& tile, float* rows, std::int64_t row_stride,
                                   const MaskShape& shape) const {
  std::array<double, kBlock * kBlock> exact{};
  add_tile(tile, exact.data(), kBlock, shape);
  const double* row = exact.data();
  for (std::int64_t i = tile.i_begin; i < tile.i_end; ++i, row += kBlock, rows += row_stride) {
    for (std::int64_t c = 0; c < tile.j_end - tile.j_begin; ++c) rows[c] = static_cast<float>(row[c]);
  }
}

bias_detail::FloatRows bias_detail::Node::tile_rows(const Tile& /*tile*/) const { return {}; }

void bias_detail::Node::validate(const MaskShape& /*shape*/) const {}

std::vector<const bias_detail::TermNode*> bias_detail::term_nodes(const Bias& bias) {
  std::vector<const TermNode*> nodes;
  for (const Bias& term : bias.terms()) nodes.push_back(term.node().as_term());
  return nodes;
}

Bias::Bias() : node_(zero_node()) {}
Bias::Bias(std::shared_ptr<const bias_detail::Node> node) : node_(std::move(node)) {}

double Bias::at(const Place& place, const MaskShape& shape) const { return node_->at(place, shape); }
void Bias::add_row(const Place& first, std::span<double> row, const MaskShape& shape) const {
  node_->add_row(first, row, shape);
}
void Bias::write_tile(const Tile& tile, float* rows, std::int64_t row_stride, const MaskShape& shape) const {
  Tile block = tile;
  for (block.i_begin = tile.i_begin; block.i_begin < tile.i_end; block.i_begin = block.i_end) {
    block.i_end = std::min(block.i_begin + bias_detail::kBlock, tile.i_end);
    float* first = rows + (block.i_begin - tile.i_begin) * row_stride;
    for (block.j_begin = tile.j_begin; block.j_begin < tile.j_end; block.j_begin = block.j_end) {
      block.j_end = std::min(block.j_begin + bias_detail::kBlock, tile.j_end);
      node_->write_tile(block, first + (block.j_begin - tile.j_begin), row_stride, shape);
    }
  }
}
void Bias::validate(const MaskShape& shape) const { node_->validate(shape); }
bool Bias::is_zero() const { return node_->is_zero(); }
std::vector<Bias> Bias::terms() const {
  if (is_zero()) return {};
  const std::vector<Bias>* const inner = node_->terms_of_sum();
  return inner == nullptr ? std::vector<Bias>{*this} : *inner;
}
std::string Bias::to_string() const { return node_->to_string(); }

Bias sum(const std::vector<Bias>& terms) {
  std::vector<Bias> flat;
  for (const Bias& term : terms) {
    const std::vector<Bias> inner = term.terms();
    flat.insert(flat.end(), inner.begin(), inner.end());
  }
  if (flat.empty()) return {};
  return flat.size() == 1 ? flat.front() : Bias(std::make_shared<const Sum>(std::move(flat)));
}

Bias operator+(const Bias& a, const Bias& b) { return sum({a, b}); }

}  // namespace qkv
