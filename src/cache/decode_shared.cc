#include "cache/decode_shared.h"

#include <cstring>

#include "core/bytes.h"

namespace qkv {

SharedCall::SharedCall(const DecodeCall& call, const SequencePlans& plans, const std::vector<SharedRun>& runs)
    : call_(call), plans_(plans) {
  std::vector<std::int64_t> own(static_cast<std::size_t>(call.cache.B()), 0);  // each sequence's first column
  for (std::int64_t b = 0; b < call.cache.B(); ++b) {
    sequences_.push_back({.segment = segment_of(call, call.q, b), .runs = {}});
    sequences_.back().segment.plan = &plans[b];
  }
  for (const SharedRun& run : runs) {
    add_shared(run);
    for (const std::int64_t b : run.sequences) own[static_cast<std::size_t>(b)] = run.columns.end;
  }
  for (std::int64_t b = 0; b < call.cache.B(); ++b) add_own(b, own[static_cast<std::size_t>(b)]);
}

void SharedCall::add_shared(const SharedRun& run) {
  const std::int64_t Tq = call_.q.dim(2);
  kernels::cpu::Segment segment = segment_of(call_, call_.q, run.sequences.front());
  segment.shape = {.B = 1,
                   .H = call_.q.dim(1),
                   .Tq = static_cast<std::int64_t>(run.sequences.size()) * Tq,
                   .Tk = run.columns.end * kernels::kTile};
  segment.plan = &all_.emplace_back(all(), segment.shape, TileSize{kernels::kTile, kernels::kTile});
  add_run(segment, run.columns, run.sequences);
}

void SharedCall::add_own(std::int64_t b, std::int64_t first_column) {
  const std::int64_t columns = plans_[b].columns();
  if (first_column >= columns) return;
  add_run(sequences_[static_cast<std::size_t>(b)].segment, {first_column, columns}, {b});
}

void SharedCall::add_run(const kernels::cpu::Segment& segment, const KeyRange& columns,
                         const std::vector<std::int64_t>& members) {
  std::int64_t first_query = 0;
  for (const std::int64_t b : members) {
    sequences_[static_cast<std::size_t>(b)].runs.push_back({.run = runs_.size(), .first_query = first_query});
    first_query += call_.q.dim(2);
  }
  runs_.push_back(segment);
  columns_.push_back(columns);
  members_.push_back(members);
}

kernels::cpu::SharedForward SharedCall::forward() const {
  return {.forward = forward_of(call_, runs_), .columns = columns_, .sequences = sequences_};
}

std::size_t SharedCall::query_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t n = 0; n < runs_.size(); ++n) {
    if (members_[n].size() == 1) continue;
    const MaskShape& shape = runs_[n].shape;
    bytes += core::aligned_bytes(
        core::checked_bytes("decode", {shape.H, shape.Tq, call_.q.dim(3)}, size_of(call_.q.dtype())));
  }
  return bytes;
}

std::size_t SharedCall::scratch_bytes(const kernels::cpu::Target& target) const {
  return core::checked_sum("decode",
                           {query_bytes(), kernels::cpu::shared_scratch_bytes(target, forward(), threads_of(call_))});
}

void SharedCall::run(const kernels::cpu::Target& target, const TensorView& q, const MutableTensorView& out,
                     const MutableTensorView& lse, std::span<std::byte> scratch) {
  std::byte* place = scratch.data();
  for (std::size_t n = 0; n < runs_.size(); ++n) {
    if (members_[n].size() == 1) {
      runs_[n].q = q.select(0, members_[n].front());
    } else {
      runs_[n].q = gathered(members_[n], q, place);
      place += core::aligned_bytes(static_cast<std::size_t>(runs_[n].q.size()) * size_of(q.dtype()));
    }
  }
  for (kernels::cpu::SharingSequence& sequence : sequences_) {
    sequence.segment.q = q.select(0, sequence.segment.b);
    direct(sequence.segment, out, lse);
  }
  kernels::cpu::forward_shared(target, forward(), threads_of(call_), scratch.subspan(query_bytes()));
}

// [Hq, sequences * Tq, D]
TensorView SharedCall::gathered(const std::vector<std::int64_t>& sequences, const TensorView& q,
                                std::byte* place) const {
  const std::size_t element = size_of(q.dtype());
  const std::size_t row = static_cast<std::size_t>(q.dim(3)) * element;
  const auto* from = static_cast<const std::byte*>(q.data());
  std::byte* to = place;
  for (std::int64_t h = 0; h < q.dim(1); ++h) {
    for (const std::int64_t b : sequences) {
      for (std::int64_t i = 0; i < q.dim(2); ++i, to += row) {
        const std::int64_t at = b * q.strides()[0] + h * q.strides()[1] + i * q.strides()[2];
        std::memcpy(to, from + at * static_cast<std::int64_t>(element), row);
      }
    }
  }
  const Shape shape = {q.dim(1), static_cast<std::int64_t>(sequences.size()) * q.dim(2), q.dim(3)};
  return {place, q.dtype(), shape, contiguous_strides(shape)};
}

}  // namespace qkv
