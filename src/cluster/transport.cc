#include "qkv/cluster/transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace qkv {
namespace {

// Tags of the small messages, beyond those of callers.
constexpr int kBarrierTag = Transport::kMostTag + 1;
constexpr int kBroadcastTag = Transport::kMostTag + 2;
constexpr int kGatherTag = Transport::kMostTag + 3;

// Ranks as the nodes of a binomial tree whose root has number 0.
class Tree {
 public:
  Tree(int rank, int root, int size) : root_(root), size_(size), place_((rank - root + size) % size) {}

  [[nodiscard]] bool is_root() const { return place_ == 0; }
  [[nodiscard]] int parent() const { return rank_of(place_ & (place_ - 1)); }
  // From the nearest to the farthest.
  [[nodiscard]] std::vector<int> children() const {
    std::vector<int> all;
    for (int step = 1; place_ + step < size_ && (place_ & step) == 0; step *= 2) all.push_back(rank_of(place_ + step));
    return all;
  }

 private:
  [[nodiscard]] int rank_of(int place) const { return (place + root_) % size_; }

  int root_;
  int size_;
  int place_;
};

void append_number(std::vector<std::byte>& bytes, std::uint64_t number) {
  const auto* first = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), first, first + sizeof(number));
}

std::uint64_t taken_number(std::span<const std::byte>& bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  bytes = bytes.subspan(sizeof(number));
  return number;
}

double seconds(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000; }

}  // namespace

std::string Transfer::text() const {
  return tag_ <= Transport::kMostTag ? fmt::format("{} bytes of tag {}", bytes_, tag_)
                                     : fmt::format("{} bytes of control", bytes_);
}

Transport::Transport(int rank, std::vector<std::string> hosts, std::chrono::milliseconds patience)
    : rank_(rank), hosts_(std::move(hosts)), patience_(patience) {}

const std::string& Transport::host(int rank) const {
  require_rank("Transport::host", "rank", rank);
  return hosts_[static_cast<std::size_t>(rank)];
}

std::string Transport::name_of(int rank) const { return fmt::format("rank {} ({})", rank, host(rank)); }

void Transport::require_rank(std::string_view function, std::string_view argument, int rank) const {
  if (rank >= 0 && rank < size()) return;
  throw InvalidArgument(function, argument, fmt::format("a rank from 0 to {}", size() - 1), std::to_string(rank));
}

void Transport::require_other(std::string_view function, std::string_view argument, int rank) const {
  require_rank(function, argument, rank);
  if (rank == rank_) throw InvalidArgument(function, argument, "another rank", fmt::format("{}, its own", rank));
}

void Transport::require_tag(std::string_view function, int tag) const {
  if (tag >= 0 && tag <= kMostTag) return;
  throw InvalidArgument(function, "tag", fmt::format("0 to {}", kMostTag), std::to_string(tag));
}

std::unique_ptr<Transfer> Transport::isend(int to, int tag, std::span<const std::byte> bytes) {
  require_other("Transport::isend", "to", to);
  require_tag("Transport::isend", tag);
  progress();
  ++sent_.messages;
  sent_.bytes += static_cast<std::int64_t>(bytes.size());
  return start_send(to, tag, bytes);
}

std::unique_ptr<Transfer> Transport::irecv(int from, int tag, std::span<std::byte> bytes) {
  require_other("Transport::irecv", "from", from);
  require_tag("Transport::irecv", tag);
  progress();
  return start_receive(from, tag, bytes);
}

void Transport::throw_failure() {
  const std::string why = failure();
  if (!why.empty()) throw ClusterError(why);
}

void Transport::fail_and_throw(const std::string& why) {
  fail(why);
  throw_failure();  // that of another rank, if it was earlier
  throw ClusterError(why);
}

bool Transport::test(Transfer& transfer) {
  progress();
  return transfer.has_arrived();
}

void Transport::wait(Transfer& transfer) {
  live(fmt::format("waits for {}, with {}", name_of(transfer.peer()), transfer.text()));
  for (;;) {
    const bool ended = has_ended(transfer.peer());
    if (transfer.has_arrived()) return;
    throw_failure();
    const std::string whom = name_of(transfer.peer());
    const std::string what = fmt::format("{} waited for it with {}", name_of(rank_), transfer.text());
    if (ended) fail_and_throw(fmt::format("{} has ended: {}", whom, what));
    const std::chrono::milliseconds silence = silence_of(transfer.peer());
    if (silence > patience_) {
      fail_and_throw(fmt::format("{} has given no sign of life for {:.1f} s: {}", whom, seconds(silence), what));
    }
    transfer.look_out();
    live({});
  }
}

void Transport::progress() {
  live("computes");
  throw_failure();
}

void Transport::give_up(std::string_view reason) noexcept {
  try {
    fail(fmt::format("{} has given up: {}", name_of(rank_), reason));
  } catch (...) {
    fail("a rank has given up");
  }
}

void Transport::send_sized(int to, int tag, std::span<const std::byte> bytes) {
  std::vector<std::byte> size;
  append_number(size, bytes.size());
  progress();
  sent_.messages += 2;
  sent_.bytes += static_cast<std::int64_t>(size.size() + bytes.size());
  const std::unique_ptr<Transfer> head = start_send(to, tag, size);
  const std::unique_ptr<Transfer> body = start_send(to, tag, bytes);
  wait(*head);
  wait(*body);
}

std::vector<std::byte> Transport::receive_sized(int from, int tag) {
  std::vector<std::byte> head(sizeof(std::uint64_t));
  wait(*start_receive(from, tag, head));
  std::span<const std::byte> rest = head;
  std::vector<std::byte> bytes(taken_number(rest));
  wait(*start_receive(from, tag, bytes));
  return bytes;
}

void Transport::barrier() {
  const Tree tree(rank_, 0, size());
  for (const int child : tree.children()) static_cast<void>(receive_sized(child, kBarrierTag));
  if (!tree.is_root()) {
    send_sized(tree.parent(), kBarrierTag, {});
    static_cast<void>(receive_sized(tree.parent(), kBarrierTag));
  }
  for (const int child : tree.children()) send_sized(child, kBarrierTag, {});
}

void Transport::broadcast(int root, std::vector<std::byte>& bytes) {
  require_rank("Transport::broadcast", "root", root);
  const Tree tree(rank_, root, size());
  if (!tree.is_root()) bytes = receive_sized(tree.parent(), kBroadcastTag);
  for (const int child : tree.children()) send_sized(child, kBroadcastTag, bytes);
}

std::vector<std::vector<std::byte>> Transport::gather(int root, std::span<const std::byte> bytes) {
  require_rank("Transport::gather", "root", root);
  const Tree tree(rank_, root, size());
  std::vector<std::byte> all;  // rank, size and bytes of each rank below this one
  append_number(all, static_cast<std::uint64_t>(rank_));
  append_number(all, bytes.size());
  all.insert(all.end(), bytes.begin(), bytes.end());
  for (const int child : tree.children()) {
    const std::vector<std::byte> below = receive_sized(child, kGatherTag);
    all.insert(all.end(), below.begin(), below.end());
  }
  if (!tree.is_root()) {
    send_sized(tree.parent(), kGatherTag, all);
    return {};
  }
  std::vector<std::vector<std::byte>> of_ranks(static_cast<std::size_t>(size()));
  std::span<const std::byte> rest = all;
  while (!rest.empty()) {
    const std::uint64_t rank = taken_number(rest);
    const std::uint64_t count = taken_number(rest);
    const std::span<const std::byte> own = rest.first(count);
    of_ranks[rank].assign(own.begin(), own.end());
    rest = rest.subspan(count);
  }
  return of_ranks;
}

}  // namespace qkv
