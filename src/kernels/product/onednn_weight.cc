#include "kernels/product/onednn_weight.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include "kernels/elements.h"
#include "kernels/pieces.h"
#include "kernels/product/dense.h"
#include "kernels/vectorised.h"
#include "qkv/error.h"

namespace qkv::kernels {
namespace {

// Products are made of few numbers of rows, since oneDNN takes milliseconds to make the code of each; the rows of x
// that are missing at its end are zeros. More rows than the last are cut into several products.
constexpr std::array<std::int64_t, 6> kRows = {16, 32, 48, 64, 96, 128};
constexpr std::int64_t kRowsOfPiece = kRows.back();

std::int64_t rounded_rows(std::int64_t M) { return *std::ranges::lower_bound(kRows, M); }

// A piece for each thread, none too small to be worth a task: what is one piece is written where it belongs.
std::int64_t columns_of_piece(std::int64_t N) {
  constexpr std::int64_t kStep = 64;
  constexpr std::int64_t kMostPieces = 16;
  const std::int64_t pieces = std::clamp<std::int64_t>(threads(), 1, kMostPieces);
  const std::int64_t wanted = std::max(2 * kStep, (N + pieces - 1) / pieces);
  return (wanted + kStep - 1) / kStep * kStep;
}

// With rows of zeros up to `rows`.
Dense with_rows(const TensorView& x, std::int64_t rows) {
  Dense padded(x.dtype(), {rows, x.dim(1)});
  std::memset(padded.writable().data(), 0, static_cast<std::size_t>(padded.view().size()) * size_of(x.dtype()));
  copy_elements(x, padded.writable().slice(0, 0, x.dim(0)));
  return padded;
}

// Of the first rows of `more`, as many as `place` has; both f32.
void add_rows(const MutableTensorView& place, const TensorView& more) {
  const std::int64_t columns = place.dim(1);
  auto* const out = static_cast<float*>(place.data());
  const auto* const from = more.data_as<float>();
  vectorised<float>([&]() QKV_INLINED {
    for (std::int64_t row = 0; row < place.dim(0); ++row) {
      float* const to = out + row * place.strides()[0];
      QKV_SAME_INDEX
      for (std::int64_t n = 0; n < columns; ++n) to[n] += from[row * columns + n];
    }
  });
}

void multiply_kept(const ProductShape& shape, const void* x, const void* laid, const void* bias, void* out) {
  if (onednn_multiply(shape, x, laid, bias, out)) return;
  throw Error("oneDNN has no product of " + std::to_string(shape.M) + " rows with a weight that it has laid out");
}

}  // namespace

std::shared_ptr<const PackedWeight> OneDnnWeight::of(const TensorView& weight, DType dtype) {
  auto packed = std::make_shared<OneDnnWeight>(Secret{}, dtype);
  return packed->pack(weight) ? packed : nullptr;
}

bool OneDnnWeight::pack(const TensorView& weight) {
  const Dense used = Dense::of(weight, dtype_);
  const std::int64_t N = weight.dim(0);
  const std::int64_t K = weight.dim(1);
  const std::int64_t width = columns_of_piece(N);
  pieces_.resize(static_cast<std::size_t>((N + width - 1) / width));
  std::atomic<bool> all = true;
  for_pieces(N, width, [&](std::int64_t begin, std::int64_t end) {
    Piece& piece = pieces_[static_cast<std::size_t>(begin / width)];
    piece = {.column = begin,
             .shape = {.M = kRows.front(),
                       .N = end - begin,
                       .K = K,
                       .a_row = K,
                       .a_column = 1,
                       .b_row = 1,
                       .b_column = K,
                       .c_row = end - begin,
                       .dtype = dtype_,
                       .out = dtype_,
                       .bias = DType::i64,
                       .right = RightLayout::kept},
             .laid = {}};
    const std::size_t bytes = onednn_packed_bytes(piece.shape);
    if (bytes == 0) return all.store(false);
    piece.laid = core::PooledBlock(bytes);
    onednn_pack(piece.shape, used.view().slice(0, begin, end).data(), piece.laid.data());
  });
  return all;
}

void OneDnnWeight::multiply(const MutableTensorView& out, const TensorView& x, const TensorView* bias) const {
  if (x.dtype() == dtype_) return run(out, x, bias, Into::written);
  const Dense rows = Dense::copy_of(x, dtype_);
  const Dense shift = bias == nullptr ? Dense() : Dense::of(*bias, dtype_);
  const Dense sums(dtype_, out.shape());
  run(sums.writable(), rows.view(), bias == nullptr ? nullptr : &shift.view(), Into::written);
  copy_elements(sums.view(), out);
}

void OneDnnWeight::add_product(const MutableTensorView& out, const TensorView& x) const {
  run(out, x, nullptr, Into::added);
}

void OneDnnWeight::run(const MutableTensorView& out, const TensorView& x, const TensorView* bias, Into into) const {
  const Dense rows = Dense::of(x, dtype_);
  const std::int64_t M = x.dim(0);
  const std::int64_t blocks = (M + kRowsOfPiece - 1) / kRowsOfPiece;
  const std::int64_t last = (blocks - 1) * kRowsOfPiece;
  const std::int64_t last_rows = rounded_rows(M - last);
  const TensorView end = rows.view().slice(0, last, M);
  const Dense filled = last_rows == end.dim(0) ? Dense::of(end, dtype_) : with_rows(end, last_rows);
  const std::int64_t tasks = static_cast<std::int64_t>(pieces_.size()) * blocks;
  core::parallel_for(threads(), tasks, [&](int /*worker*/, std::int64_t task) {
    const Piece& piece = pieces_[static_cast<std::size_t>(task / blocks)];
    const std::int64_t first = task % blocks * kRowsOfPiece;
    const bool is_last = first == last;
    const TensorView left = is_last ? filled.view() : rows.view().slice(0, first, first + kRowsOfPiece);
    ProductShape shape = piece.shape;
    shape.M = left.dim(0);
    shape.out = out.dtype();
    const void* shift = nullptr;
    if (bias != nullptr) {
      shape.bias = bias->dtype();
      shift = bias->slice(0, piece.column, piece.column + shape.N).data();
    }
    const std::int64_t end_row = std::min(first + kRowsOfPiece, M);
    const MutableTensorView place = out.slice(0, first, end_row).slice(1, piece.column, piece.column + shape.N);
    // oneDNN's kernels for packed weights write dense rows only.
    if (into == Into::written && pieces_.size() == 1 && shape.M == place.dim(0)) {
      return multiply_kept(shape, left.data(), piece.laid.data(), shift, place.data());
    }
    const Dense result(out.dtype(), {shape.M, shape.N});
    multiply_kept(shape, left.data(), piece.laid.data(), shift, result.writable().data());
    if (into == Into::added) return add_rows(place, result.view());
    copy_elements(result.view().slice(0, 0, place.dim(0)), place);
  });
}

}  // namespace qkv::kernels
