#include "qkv/cluster/shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cluster/rows.h"
#include "cluster/tags.h"
#include "qkv/cluster/transport.h"

namespace qkv {
namespace {

void require_ranks(std::string_view function, int ranks) {
  if (ranks < 1) throw InvalidArgument(function, "ranks", "1 or more", std::to_string(ranks));
}

void require_length(std::string_view function, std::int64_t T) {
  if (T < 0) throw InvalidArgument(function, "T", "0 or more", std::to_string(T));
}

// Row n of those of a piece list.
std::int64_t position_among(const std::vector<SharePiece>& pieces, std::int64_t n) {
  for (const SharePiece& piece : pieces) {
    if (n < piece.count) return piece.position(n);
    n -= piece.count;
  }
  return -1;
}

std::vector<std::byte> packed(const TensorView& x) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(x.size()) * size_of(x.dtype()));
  cluster::pack(x, bytes.data());
  return bytes;
}

}  // namespace

SequenceShares::SequenceShares() : pieces_(1) {}

SequenceShares::SequenceShares(std::vector<std::vector<SharePiece>> pieces) : pieces_(std::move(pieces)) {
  constexpr std::string_view kFunction = "SequenceShares";
  if (pieces_.empty()) throw InvalidArgument(kFunction, "pieces", "those of one rank or more", "of none");
  for (std::vector<SharePiece>& own : pieces_) {
    for (const SharePiece& piece : own) {
      if (piece.first >= 0 && piece.step >= 1 && piece.count >= 0) continue;
      throw InvalidArgument(kFunction, "pieces", "first >= 0, step >= 1 and count >= 0",
                            fmt::format("first {}, step {}, count {}", piece.first, piece.step, piece.count));
    }
    own = cluster::joined(std::move(own));
    for (const SharePiece& piece : own) length_ += piece.count;
  }
  std::vector<bool> held(static_cast<std::size_t>(length_));
  for (const std::vector<SharePiece>& own : pieces_) {
    for (const SharePiece& piece : own) {
      for (std::int64_t n = 0; n < piece.count; ++n) {
        const std::int64_t position = piece.position(n);
        const bool fits = position < length_ && !held[static_cast<std::size_t>(position)];
        if (!fits) {
          throw InvalidArgument(kFunction, "pieces", fmt::format("each position from 0 to {} once", length_ - 1),
                                fmt::format("{}{}", position, position < length_ ? " twice" : ""));
        }
        held[static_cast<std::size_t>(position)] = true;
      }
    }
  }
}

SequenceShares SequenceShares::contiguous(const std::vector<std::int64_t>& lengths) {
  std::vector<std::vector<SharePiece>> pieces;
  std::int64_t first = 0;
  for (const std::int64_t length : lengths) {
    require_length("SequenceShares::contiguous", length);
    pieces.push_back({{.first = first, .count = length}});
    first += length;
  }
  require_ranks("SequenceShares::contiguous", static_cast<int>(lengths.size()));
  return SequenceShares(std::move(pieces));
}

SequenceShares SequenceShares::contiguous(std::int64_t T, int ranks) {
  require_length("SequenceShares::contiguous", T);
  require_ranks("SequenceShares::contiguous", ranks);
  std::vector<std::vector<SharePiece>> pieces;
  for (int rank = 0; rank < ranks; ++rank) pieces.push_back({cluster::stretch(T, ranks, rank)});
  return SequenceShares(std::move(pieces));
}

SequenceShares SequenceShares::zig_zag(std::int64_t T, int ranks) {
  require_length("SequenceShares::zig_zag", T);
  require_ranks("SequenceShares::zig_zag", ranks);
  std::vector<std::vector<SharePiece>> pieces;
  for (int rank = 0; rank < ranks; ++rank) {
    pieces.push_back({cluster::stretch(T, 2 * ranks, rank), cluster::stretch(T, 2 * ranks, 2 * ranks - 1 - rank)});
  }
  return SequenceShares(std::move(pieces));
}

SequenceShares SequenceShares::striped(std::int64_t T, int ranks) {
  require_length("SequenceShares::striped", T);
  require_ranks("SequenceShares::striped", ranks);
  std::vector<std::vector<SharePiece>> pieces;
  for (int rank = 0; rank < ranks; ++rank) {
    pieces.push_back({{.first = rank, .step = ranks, .count = rank < T ? (T - 1 - rank) / ranks + 1 : 0}});
  }
  return SequenceShares(std::move(pieces));
}

SequenceShares SequenceShares::by_documents(const std::vector<std::int64_t>& lengths, int ranks) {
  require_ranks("SequenceShares::by_documents", ranks);
  std::vector<SharePiece> documents;
  std::int64_t first = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0) {
      throw InvalidArgument("SequenceShares::by_documents", "lengths", "0 or more", std::to_string(length));
    }
    documents.push_back({.first = first, .count = length});
    first += length;
  }
  // Equally long ones in their order. Not by stable_sort: Clang warns of libstdc++ 12's.
  std::ranges::sort(documents, {}, [](const SharePiece& one) { return std::pair(-one.count, one.first); });
  std::vector<std::vector<SharePiece>> pieces(static_cast<std::size_t>(ranks));
  std::vector<double> pairs(pieces.size());
  for (const SharePiece& document : documents) {
    const auto least = std::ranges::min_element(pairs) - pairs.begin();
    pieces[static_cast<std::size_t>(least)].push_back(document);
    pairs[static_cast<std::size_t>(least)] += static_cast<double>(document.count) * static_cast<double>(document.count);
  }
  for (std::vector<SharePiece>& own : pieces) std::ranges::sort(own, {}, &SharePiece::first);
  return SequenceShares(std::move(pieces));
}

const std::vector<SharePiece>& SequenceShares::pieces(int rank) const {
  if (rank >= 0 && rank < ranks()) return pieces_[static_cast<std::size_t>(rank)];
  throw InvalidArgument("SequenceShares", "rank", fmt::format("a rank from 0 to {}", ranks() - 1),
                        std::to_string(rank));
}

std::int64_t SequenceShares::rows(int rank) const {
  std::int64_t count = 0;
  for (const SharePiece& piece : pieces(rank)) count += piece.count;
  return count;
}

ShareRow SequenceShares::place_of(std::int64_t position) const {
  for (int rank = 0; rank < ranks(); ++rank) {
    std::int64_t row = 0;
    for (const SharePiece& piece : pieces(rank)) {
      const std::int64_t behind = position - piece.first;
      if (behind >= 0 && behind % piece.step == 0 && behind / piece.step < piece.count) {
        return {.rank = rank, .row = row + behind / piece.step};
      }
      row += piece.count;
    }
  }
  throw InvalidArgument("SequenceShares::place_of", "position", fmt::format("0 to {}", length_ - 1),
                        std::to_string(position));
}

std::int64_t SequenceShares::position_of(const ShareRow& place) const {
  if (place.row >= 0 && place.row < rows(place.rank)) return position_among(pieces(place.rank), place.row);
  throw InvalidArgument("SequenceShares::position_of", "place",
                        fmt::format("a row below {} of rank {}", rows(place.rank), place.rank),
                        std::to_string(place.row));
}

namespace {

// Calls body(the piece's places in the whole, its rows) for each piece of a rank.
template <class Body>
void for_each_piece(const SequenceShares& shares, int rank, const Body& body) {
  std::int64_t row = 0;
  for (const SharePiece& piece : shares.pieces(rank)) {
    body(piece, KeyRange{row, row + piece.count});
    row += piece.count;
  }
}

void require_axis(std::string_view function, std::string_view argument, const TensorView& x, int axis,
                  std::int64_t places) {
  if (x.dim(axis) == places) return;
  throw InvalidArgument(function, argument, fmt::format("{} places on axis {}", places, axis), x.shape().to_string());
}

}  // namespace

Tensor SequenceShares::rows_of(const TensorView& whole, int rank, int axis) const {
  require_axis("SequenceShares::rows_of", "whole", whole, axis, length_);
  Shape shape = whole.shape();
  shape[axis < 0 ? axis + whole.rank() : axis] = rows(rank);
  Tensor own(whole.dtype(), shape);
  const MutableTensorView to = own;
  for_each_piece(*this, rank, [&](const SharePiece& piece, const KeyRange& range) {
    cluster::copy(cluster::piece_of(whole, axis, piece), to.slice(axis, range.begin, range.end));
  });
  return own;
}

void SequenceShares::put_rows(const TensorView& own, int rank, const MutableTensorView& whole, int axis) const {
  require_axis("SequenceShares::put_rows", "whole", whole, axis, length_);
  require_axis("SequenceShares::put_rows", "rows", own, axis, rows(rank));
  for_each_piece(*this, rank, [&](const SharePiece& piece, const KeyRange& range) {
    cluster::copy(own.slice(axis, range.begin, range.end), cluster::piece_of(whole, axis, piece));
  });
}

void scatter(Transport& transport, int root, const SequenceShares& shares, const TensorView& whole,
             const MutableTensorView& rows, int axis) {
  require_axis("scatter", "rows", rows, axis, shares.rows(transport.rank()));
  std::vector<std::byte> bytes(static_cast<std::size_t>(rows.size()) * size_of(rows.dtype()));
  if (transport.rank() != root) {
    transport.wait(*transport.irecv(root, cluster::kScatterTag, bytes));
    cluster::unpack(bytes.data(), rows);
    return;
  }
  std::vector<std::vector<std::byte>> given;
  std::vector<std::unique_ptr<Transfer>> sends;
  for (int rank = 0; rank < transport.size(); ++rank) {
    const Tensor own = shares.rows_of(whole, rank, axis);
    if (rank == root) {
      cluster::copy(own, rows);
      continue;
    }
    given.push_back(packed(own));
    sends.push_back(transport.isend(rank, cluster::kScatterTag, given.back()));
  }
  for (const std::unique_ptr<Transfer>& send : sends) transport.wait(*send);
}

void gather(Transport& transport, int root, const SequenceShares& shares, const TensorView& rows,
            const MutableTensorView& whole, int axis) {
  require_axis("gather", "rows", rows, axis, shares.rows(transport.rank()));
  if (transport.rank() != root) {
    const std::vector<std::byte> bytes = packed(rows);
    return transport.wait(*transport.isend(root, cluster::kGatherTag, bytes));
  }
  for (int rank = 0; rank < transport.size(); ++rank) {
    if (rank == root) {
      shares.put_rows(rows, rank, whole, axis);
      continue;
    }
    Shape shape = rows.shape();
    shape[axis < 0 ? axis + rows.rank() : axis] = shares.rows(rank);
    Tensor own(rows.dtype(), shape);
    std::vector<std::byte> bytes(static_cast<std::size_t>(own.size()) * size_of(own.dtype()));
    transport.wait(*transport.irecv(rank, cluster::kGatherTag, bytes));
    cluster::unpack(bytes.data(), own);
    shares.put_rows(own, rank, whole, axis);
  }
}

}  // namespace qkv
