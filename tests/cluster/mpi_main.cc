// Run by mpirun: messages, faults of callers and attention over its ranks. A rank that fails ends the run with 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "qkv/cluster/attention.h"
#include "qkv/cluster/mpi.h"

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw qkv::Error("it does not hold that " + what);
}

std::vector<std::byte> bytes_of(std::size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t n = 0; n < size; ++n) bytes[n] = static_cast<std::byte>(n * 7 + static_cast<std::size_t>(seed));
  return bytes;
}

void exchange(qkv::Transport& transport) {
  const int next = (transport.rank() + 1) % transport.size();
  const int last = (transport.rank() + transport.size() - 1) % transport.size();
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{5'000'000}}) {
    if (transport.size() == 1) break;
    std::vector<std::byte> got(size);
    const std::vector<std::byte> given = bytes_of(size, transport.rank());
    const auto receive = transport.irecv(last, 5, got);
    const auto send = transport.isend(next, 5, given);
    transport.wait(*receive);
    transport.wait(*send);
    require(got == bytes_of(size, last), "a message brings its bytes");
  }
  for (int root = 0; root < transport.size(); ++root) {
    const auto all = transport.gather(root, bytes_of(static_cast<std::size_t>(transport.rank()), transport.rank()));
    for (std::size_t n = 0; n < all.size(); ++n) {
      require(all[n] == bytes_of(n, static_cast<int>(n)), "the root gathers the bytes of each rank");
    }
    std::vector<std::byte> said = transport.rank() == root ? bytes_of(70'000, root) : std::vector<std::byte>();
    transport.broadcast(root, said);
    require(said == bytes_of(70'000, root), "every rank has the bytes of the root");
  }
  transport.barrier();
}

double largest_difference(const qkv::TensorView& a, const qkv::TensorView& b) {
  const std::vector<double> left = a.to_vector();
  const std::vector<double> right = b.to_vector();
  double most = left.size() == right.size() ? 0 : INFINITY;
  for (std::size_t n = 0; n < std::min(left.size(), right.size()); ++n) {
    if (left[n] != right[n]) most = std::max(most, std::fabs(left[n] - right[n]));
  }
  return most;
}

void attend(qkv::Transport& transport, const qkv::SequenceShares& shares, const qkv::AttentionOptions& options) {
  const std::int64_t T = shares.T();
  qkv::Generator random(3);
  const qkv::Tensor q = random.randn({2, 4, T, 16}, qkv::DType::f64);
  const qkv::Tensor k = random.randn({2, 2, T, 16}, qkv::DType::f64);
  const qkv::Tensor v = random.randn({2, 2, T, 8}, qkv::DType::f64);
  const qkv::Tensor d_out = random.randn({2, 4, T, 8}, qkv::DType::f64);
  const qkv::AttentionResult whole = qkv::attention(q, k, v, options);
  const qkv::AttentionGradients gradients = qkv::attention_backward(d_out, q, k, v, whole.out, whole.lse, options);
  const auto rows = [&](const qkv::TensorView& x) { return shares.rows_of(x, transport.rank()); };
  const qkv::ClusterCall call = {.queries = shares, .keys = shares};
  const qkv::AttentionResult own = qkv::attention(transport, call, rows(q), rows(k), rows(v), options);
  require(largest_difference(own.out, rows(whole.out)) < 1e-12, "out is that of one machine");
  require(largest_difference(own.lse, rows(whole.lse)) < 1e-12, "lse is that of one machine");
  const qkv::AttentionGradients got =
      qkv::attention_backward(transport, call, rows(d_out), rows(q), rows(k), rows(v), own.out, own.lse, options);
  require(largest_difference(got.d_q, rows(gradients.d_q)) < 1e-11, "d_q is that of one machine");
  require(largest_difference(got.d_k, rows(gradients.d_k)) < 1e-11, "d_k is that of one machine");
  require(largest_difference(got.d_v, rows(gradients.d_v)) < 1e-11, "d_v is that of one machine");
  require(largest_difference(got.d_bias[0], gradients.d_bias[0]) < 1e-9, "d_bias is that of one machine");
}

void compute(qkv::Transport& transport) {
  for (const std::int64_t T : {3, 200}) {
    const qkv::AttentionOptions options = {
        .softcap = 5.0, .bias = qkv::alibi(), .mask = qkv::causal() & qkv::window(70), .sinks = {0, 1, -1, 2}};
    attend(transport, qkv::SequenceShares::zig_zag(T, transport.size()), options);
    attend(transport, qkv::SequenceShares::striped(T, transport.size()), options);
  }
}

// Every rank names the two that differ.
void disagree(qkv::Transport& transport) {
  if (transport.size() == 1) return;
  const qkv::Tensor x(qkv::DType::f32, {1, 1, 1, 4});
  const qkv::SequenceShares shares = qkv::SequenceShares::contiguous(transport.size(), transport.size());
  std::string said;
  try {
    const qkv::ClusterCall call = {.queries = shares, .keys = shares, .step = transport.rank() == 1 ? 9 : 0};
    static_cast<void>(qkv::attention(transport, call, x, x, x));
  } catch (const qkv::ClusterError& error) {
    said = error.what();
  }
  require(said.find("ranks differ in step: 0 on rank 0 (") != std::string::npos &&
              said.find("9 on rank 1 (") != std::string::npos,
          "every rank names both that differ, got: " + said);
}

// One rank ends without a word while the others wait for it: each of them names it.
void lose(qkv::Transport& transport) {
  if (transport.rank() == 1) {
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));  // mpirun ends it
  }
  std::string said;
  try {
    transport.barrier();
  } catch (const qkv::ClusterError& error) {
    said = error.what();
  }
  require(said.find("rank 1 (") == 0 && said.find("has given no sign of life") != std::string::npos,
          "every rank names the one that is lost, got: " + said);
  std::printf("rank %d names the lost one\n", transport.rank());
  std::fflush(stdout);
  throw qkv::Error("ends as it should");
}

}  // namespace

int main(int argc, char** argv) {
  const bool loses = argc > 1 && std::strcmp(argv[1], "lose") == 0;
  try {
    qkv::run_mpi(
        [&](qkv::Transport& transport) {
          if (loses) return lose(transport);
          exchange(transport);
          compute(transport);
          disagree(transport);
          transport.barrier();
          if (transport.rank() == 0) std::printf("%d ranks agree\n", transport.size());
        },
        {.patience = std::chrono::milliseconds(loses ? 1000 : 10'000)});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::fflush(stderr);
    std::_Exit(1);
  }
}
