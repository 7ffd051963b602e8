#include "qkv/cluster/mpi.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <optional>
#include <thread>

namespace qkv {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostOfOne = std::size_t{1} << 30;  // bytes of one message of MPI, which counts them in an int
constexpr milliseconds kGrace(500);                       // in which what an ended rank sent may still arrive
constexpr std::array<std::byte, 0> kNoBytes{};

enum class Sign : char { alive = 'a', ended = 'e', failed = 'f' };

void check(int status, std::string_view call) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  throw ClusterError(fmt::format("{}: {}", call, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

// Of a message of any size: several of MPI's, which arrive in their order.
class MpiTransfer final : public Transfer {
 public:
  MpiTransfer(int peer, int tag, std::size_t bytes) : Transfer(peer, tag, bytes) {}
  ~MpiTransfer() override {
    for (Part& part : parts_) {
      if (part.request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&part.request);
      MPI_Request_free(&part.request);
    }
  }

  template <class Start>  // start(offset, count, &request)
  void start(std::size_t bytes, const Start& start_one) {
    std::size_t offset = 0;
    do {
      const std::size_t count = std::min(bytes - offset, kMostOfOne);
      Part& part = parts_.emplace_back();
      part.count = static_cast<int>(count);
      check(start_one(offset, part.count, &part.request), "MPI_Isend or MPI_Irecv");
      offset += count;
    } while (offset < bytes);
  }
  void expect_exactly() { receives_ = true; }

 private:
  struct Part {
    MPI_Request request = MPI_REQUEST_NULL;
    int count = 0;
  };

  bool has_arrived() override {
    for (Part& part : parts_) {
      if (part.request == MPI_REQUEST_NULL) continue;
      int is_done = 0;
      MPI_Status status;
      const int code = MPI_Test(&part.request, &is_done, &status);
      int got = part.count;
      if (code == MPI_SUCCESS && is_done != 0 && receives_) MPI_Get_count(&status, MPI_BYTE, &got);
      if (code != MPI_SUCCESS || got != part.count) {
        throw ClusterError(
            fmt::format("rank {} sent another number of bytes than the {} that were expected", peer(), part.count));
      }
      if (is_done == 0) return false;
    }
    return true;
  }

  // Both sides' progress is made by looking. Where ranks share a core, the other one needs it.
  void look_out() override {
    if (++looks_ % 64 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    } else {
      std::this_thread::yield();
    }
  }

  std::vector<Part> parts_;
  bool receives_ = false;
  int looks_ = 0;
};

// What ranks tell each other beside data: that they live, have ended, or have failed.
class Signs {
 public:
  Signs(MPI_Comm comm, int rank, int size, milliseconds patience)
      : comm_(comm),
        rank_(rank),
        every_(patience / 8),
        heard_(static_cast<std::size_t>(size), Clock::now()),
        ended_(heard_.size()) {}

  // Hears what came, and tells all that this rank lives where it has not for a while.
  void live() {
    listen();
    if (Clock::now() - told_ < every_) return;
    told_ = Clock::now();
    tell(Sign::alive, {});
  }

  void tell(Sign sign, std::string_view text) {
    letters_.remove_if([](Letter& letter) {
      int is_done = 0;
      MPI_Test(&letter.request, &is_done, MPI_STATUS_IGNORE);
      return is_done != 0;
    });
    for (int to = 0; to < static_cast<int>(heard_.size()); ++to) {
      const bool waits = std::ranges::any_of(letters_, [&](const Letter& letter) { return letter.to == to; });
      if (to == rank_ || (sign == Sign::alive && waits)) continue;  // a rank that does not listen gets one alone
      Letter& letter = letters_.emplace_back();
      letter.to = to;
      letter.text = static_cast<char>(sign) + std::string(text);
      MPI_Isend(letter.text.data(), static_cast<int>(letter.text.size()), MPI_CHAR, to, 0, comm_, &letter.request);
    }
  }

  // Until what was told has left, or for a second.
  void flush() {
    const auto end = Clock::now() + std::chrono::seconds(1);
    for (Letter& letter : letters_) {
      int is_done = 0;
      while (is_done == 0 && Clock::now() < end) {
        MPI_Test(&letter.request, &is_done, MPI_STATUS_IGNORE);
        listen();
      }
    }
  }

  [[nodiscard]] const std::string& failure() const { return failure_; }
  void set_failure(const std::string& why) {
    if (failure_.empty()) failure_ = why;
  }
  [[nodiscard]] milliseconds silence_of(int rank) const {
    return std::chrono::duration_cast<milliseconds>(Clock::now() - heard_[static_cast<std::size_t>(rank)]);
  }
  [[nodiscard]] bool has_ended(int rank) const {
    const std::optional<Clock::time_point>& ended = ended_[static_cast<std::size_t>(rank)];
    return ended && Clock::now() - *ended > kGrace;
  }
  [[nodiscard]] bool has_said_its_end(int rank) const { return ended_[static_cast<std::size_t>(rank)].has_value(); }

 private:
  struct Letter {
    int to = 0;
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void listen() {
    for (;;) {
      int is_there = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &is_there, &status), "MPI_Iprobe");
      if (is_there == 0) return;
      int length = 0;
      MPI_Get_count(&status, MPI_CHAR, &length);
      std::string text(static_cast<std::size_t>(length), '\0');
      check(MPI_Recv(text.data(), length, MPI_CHAR, status.MPI_SOURCE, 0, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
      const auto from = static_cast<std::size_t>(status.MPI_SOURCE);
      heard_[from] = Clock::now();
      if (text.front() == static_cast<char>(Sign::ended)) ended_[from] = Clock::now();
      if (text.front() == static_cast<char>(Sign::failed)) set_failure(text.substr(1));
    }
  }

  MPI_Comm comm_;
  int rank_;
  milliseconds every_;
  std::vector<Clock::time_point> heard_;
  std::vector<std::optional<Clock::time_point>> ended_;
  Clock::time_point told_ = {};
  std::list<Letter> letters_;  // a list, so that bytes on their way stay where they are
  std::string failure_;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm data, MPI_Comm control, int rank, const std::vector<std::string>& hosts, milliseconds patience)
      : Transport(rank, hosts, patience),
        data_(data),
        signs_(control, rank, static_cast<int>(hosts.size()), patience) {}

  // Tells the others that nothing more comes, and waits until all have said so: MPI's own end waits without one.
  void end() {
    signs_.tell(Sign::ended, {});
    for (int other = 0; other < size(); ++other) {
      while (other != rank() && !signs_.has_said_its_end(other)) {
        signs_.live();
        if (!signs_.failure().empty()) throw ClusterError(signs_.failure());
        if (signs_.silence_of(other) > patience()) {
          throw ClusterError(name_of(other) + " has given no sign of life at the end of the run");
        }
        std::this_thread::sleep_for(milliseconds(1));
      }
    }
    signs_.flush();
  }

 private:
  std::unique_ptr<Transfer> start_send(int to, int tag, std::span<const std::byte> bytes) override {
    auto transfer = std::make_unique<MpiTransfer>(to, tag, bytes.size());
    const std::byte* first = bytes.empty() ? kNoBytes.data() : bytes.data();
    transfer->start(bytes.size(), [&](std::size_t offset, int count, MPI_Request* request) {
      return MPI_Isend(first + offset, count, MPI_BYTE, to, tag, data_, request);
    });
    return transfer;
  }

  std::unique_ptr<Transfer> start_receive(int from, int tag, std::span<std::byte> bytes) override {
    auto transfer = std::make_unique<MpiTransfer>(from, tag, bytes.size());
    transfer->expect_exactly();
    transfer->start(bytes.size(), [&](std::size_t offset, int count, MPI_Request* request) {
      return MPI_Irecv(bytes.data() + offset, count, MPI_BYTE, from, tag, data_, request);
    });
    return transfer;
  }

  void live(std::string_view /*doing*/) override { signs_.live(); }
  std::string failure() override { return signs_.failure(); }
  void fail(const std::string& why) noexcept override {
    if (!signs_.failure().empty()) return;
    signs_.set_failure(why);
    try {
      signs_.tell(Sign::failed, why);
      signs_.flush();
    } catch (...) {  // NOLINT(bugprone-empty-catch): whoever is not told hears no sign of life
    }
  }
  milliseconds silence_of(int rank) override { return signs_.silence_of(rank); }
  bool has_ended(int rank) override { return signs_.has_ended(rank); }

  MPI_Comm data_;
  Signs signs_;
};

std::vector<std::string> hosts_of(MPI_Comm comm, int size) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> own{};
  int length = 0;
  check(MPI_Get_processor_name(own.data(), &length), "MPI_Get_processor_name");
  std::vector<char> all(static_cast<std::size_t>(size) * own.size());
  const auto width = static_cast<int>(own.size());
  check(MPI_Allgather(own.data(), width, MPI_CHAR, all.data(), width, MPI_CHAR, comm), "MPI_Allgather");
  std::vector<std::string> hosts;
  for (int rank = 0; rank < size; ++rank) hosts.emplace_back(all.data() + static_cast<std::ptrdiff_t>(rank) * width);
  return hosts;
}

MPI_Comm copy_of_world() {
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return comm;
}

}  // namespace

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

void run_mpi(const std::function<void(Transport&)>& body, const MpiOptions& options) {
  if (options.patience.count() <= 0) {
    throw InvalidArgument("run_mpi", "patience", "more than 0 ms", fmt::format("{} ms", options.patience.count()));
  }
  int given = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given), "MPI_Init_thread");
  int rank = 0;
  int size = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  MpiTransport transport(copy_of_world(), copy_of_world(), rank, hosts_of(MPI_COMM_WORLD, size), options.patience);
  try {
    body(transport);
  } catch (const std::exception& error) {
    transport.give_up(error.what());
    throw;
  }
  transport.end();
  check(MPI_Finalize(), "MPI_Finalize");
}

}  // namespace qkv
