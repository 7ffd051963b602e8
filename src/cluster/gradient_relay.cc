#include "cluster/gradient_relay.h"

#include <utility>

#include "cluster/call.h"
#include "cluster/rows.h"
#include "cluster/tags.h"
#include "kernels/elements.h"

namespace qkv::cluster {

BlockGradients::BlockGradients(DType sums, const PieceRows& rows, const TensorView& k, const TensorView& v)
    : rows_(rows) {
  for (const auto& [begin, end] : rows) {
    d_k_.emplace_back(sums, Shape{k.dim(0), k.dim(1), end - begin, k.dim(3)});
    d_v_.emplace_back(sums, Shape{v.dim(0), v.dim(1), end - begin, v.dim(3)});
  }
}

void BlockGradients::add(BlockGradients& others) {
  for (std::size_t n = 0; n < rows_.size(); ++n) {
    const KeyRange& other = others.rows_[n];
    if (other.begin >= other.end) continue;
    const std::int64_t begin = other.begin - rows_[n].begin;
    const std::int64_t end = other.end - rows_[n].begin;
    kernels::add_elements(others.d_k_[n], d_k(n).slice(2, begin, end));
    kernels::add_elements(others.d_v_[n], d_v(n).slice(2, begin, end));
  }
}

std::size_t BlockGradients::bytes() const {
  std::size_t sum = 0;
  for (const auto* all : {&d_k_, &d_v_}) {
    for (const Tensor& one : *all) sum += static_cast<std::size_t>(one.size()) * size_of(one.dtype());
  }
  return sum;
}

std::vector<std::byte> BlockGradients::packed() const {
  std::vector<std::byte> all(bytes());
  std::byte* place = all.data();
  for (std::size_t n = 0; n < rows_.size(); ++n) place = pack(d_v_[n], pack(d_k_[n], place));
  return all;
}

void BlockGradients::read(const std::vector<std::byte>& bytes) {
  const std::byte* place = bytes.data();
  for (std::size_t n = 0; n < rows_.size(); ++n) place = unpack(unpack(place, d_k_[n]), d_v_[n]);
}

GradientRelay::GradientRelay(Transport& transport, const Routes& routes, DType sums, const TensorView& k,
                             const TensorView& v)
    : transport_(transport), routes_(routes), sums_(sums), k_(k), v_(v), outbox_(transport) {
  const int own = transport.rank();
  if (const std::optional<int> last = routes.last(own)) {
    home_.emplace(expected_from(*last, own, routes.leaving(own, *last)));
  }
}

GradientRelay::Expected GradientRelay::expected_from(int from, int source, const PieceRows& rows) {
  Expected expected = {.gradients = BlockGradients(sums_, rows, k_, v_), .bytes = {}, .transfer = nullptr};
  expected.bytes.resize(expected.gradients.bytes());
  expected.transfer = transport_.irecv(from, kGradientTag + source, expected.bytes);
  return expected;
}

void GradientRelay::expect(int source) {
  const std::optional<int> from = routes_.previous(source, transport_.rank());
  if (from && *from != source) expected_.emplace(expected_from(*from, source, routes_.leaving(source, *from)));
}

void GradientRelay::pass_on(int source, BlockGradients& own) {
  outbox_.sort_out();
  BlockGradients all(sums_, routes_.leaving(source, transport_.rank()), k_, v_);
  if (expected_) {
    transport_.wait(*expected_->transfer);
    expected_->gradients.read(expected_->bytes);
    all.add(expected_->gradients);
    expected_.reset();
  }
  all.add(own);
  outbox_.send(routes_.next(source, transport_.rank()).value_or(source), kGradientTag + source, all.packed());
}

std::optional<BlockGradients> GradientRelay::finish() {
  std::optional<BlockGradients> found;
  if (home_) {
    transport_.wait(*home_->transfer);
    home_->gradients.read(home_->bytes);
    found.emplace(std::move(home_->gradients));
    home_.reset();
  }
  outbox_.finish();
  return found;
}

}  // namespace qkv::cluster
