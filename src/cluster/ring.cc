#include "cluster/ring.h"

#include <utility>

#include "cluster/rows.h"
#include "cluster/tags.h"

namespace qkv::cluster {
namespace {

Shape rows_shape(const TensorView& like, std::int64_t rows) { return {like.dim(0), like.dim(1), rows, like.dim(3)}; }

std::size_t bytes_of(const TensorView& k, const TensorView& v, const PieceRows& rows) {
  const std::int64_t count = count_of(rows);
  return static_cast<std::size_t>(rows_shape(k, count).product() + rows_shape(v, count).product()) * size_of(k.dtype());
}

}  // namespace

void Outbox::send(int to, int tag, std::vector<std::byte> bytes) {
  Letter& letter = letters_.emplace_back();
  letter.bytes = std::move(bytes);
  letter.transfer = transport_.isend(to, tag, letter.bytes);
}

void Outbox::sort_out() {
  letters_.remove_if([&](const Letter& letter) { return transport_.test(*letter.transfer); });
}

void Outbox::finish() {
  for (const Letter& letter : letters_) transport_.wait(*letter.transfer);
  letters_.clear();
}

Ring::Ring(Transport& transport, const Routes& routes, const SequenceShares& keys, const TensorView& k,
           const TensorView& v)
    : transport_(transport),
      routes_(routes),
      keys_(keys),
      k_(k),
      v_(v),
      sources_(routes.sources(transport.rank())),
      outbox_(transport) {
  pass_on(own_block());
  look_forward();
}

// Starts the receipt of the next block, unless that is this rank's own.
void Ring::look_forward() {
  if (place_ == sources_.size() || sources_[place_] == transport_.rank()) return;
  const int source = sources_[place_];
  coming_.emplace();
  coming_->bytes.resize(bytes_of(k_, v_, routes_.coming(source, transport_.rank())));
  coming_->transfer =
      transport_.irecv(*routes_.previous(source, transport_.rank()), kBlockTag + source, coming_->bytes);
}

const Block* Ring::next() {
  outbox_.sort_out();
  if (place_ == sources_.size()) return nullptr;
  const int source = sources_[place_];
  if (source == transport_.rank()) {
    block_ = cut(own_block(), routes_.needed(source, source));
  } else {
    transport_.wait(*coming_->transfer);
    held_ = std::move(coming_->bytes);
    coming_.reset();
    const Block whole = block_in(source, routes_.coming(source, transport_.rank()), held_.data());
    pass_on(whole);
    block_ = cut(whole, routes_.needed(source, transport_.rank()));
  }
  ++place_;
  look_forward();
  return &block_;
}

void Ring::pass_on(const Block& block) {
  const std::optional<int> to = routes_.next(block.source, transport_.rank());
  if (!to) return;
  const Block given = cut(block, routes_.coming(block.source, *to));
  std::vector<std::byte> bytes(bytes_of(k_, v_, given.rows));
  std::byte* place = bytes.data();
  for (std::size_t n = 0; n < given.rows.size(); ++n) place = pack(given.v[n], pack(given.k[n], place));
  outbox_.send(*to, kBlockTag + block.source, std::move(bytes));
}

Block Ring::own_block() const {
  Block block = {.source = transport_.rank(), .rows = {}, .k = {}, .v = {}};
  std::int64_t row = 0;
  for (const SharePiece& piece : keys_.pieces(block.source)) {
    block.rows.push_back({0, piece.count});
    block.k.push_back(k_.slice(2, row, row + piece.count));
    block.v.push_back(v_.slice(2, row, row + piece.count));
    row += piece.count;
  }
  return block;
}

Block Ring::block_in(int source, const PieceRows& rows, const std::byte* bytes) const {
  Block block = {.source = source, .rows = rows, .k = {}, .v = {}};
  const auto taken = [&](const TensorView& like, std::int64_t count) {
    const Shape shape = rows_shape(like, count);
    const TensorView view(bytes, like.dtype(), shape, contiguous_strides(shape));
    bytes += static_cast<std::size_t>(shape.product()) * size_of(like.dtype());
    return view;
  };
  for (const KeyRange& range : rows) {
    block.k.push_back(taken(k_, range.end - range.begin));
    block.v.push_back(taken(v_, range.end - range.begin));
  }
  return block;
}

Block cut(const Block& block, const PieceRows& rows) {
  Block part = {.source = block.source, .rows = rows, .k = {}, .v = {}};
  for (std::size_t n = 0; n < rows.size(); ++n) {
    if (rows[n].begin >= rows[n].end) {
      part.rows[n] = {};
      part.k.push_back(block.k[n].slice(2, 0, 0));
      part.v.push_back(block.v[n].slice(2, 0, 0));
      continue;
    }
    const std::int64_t begin = rows[n].begin - block.rows[n].begin;
    const std::int64_t end = rows[n].end - block.rows[n].begin;
    part.k.push_back(block.k[n].slice(2, begin, end));
    part.v.push_back(block.v[n].slice(2, begin, end));
  }
  return part;
}

}  // namespace qkv::cluster
