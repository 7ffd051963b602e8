#include "qkv/cluster/local.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace qkv {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLookOut(20);

// Ends the thread of a rank that is lost. No error: nothing may catch it as one.
struct Lost {};

// One side of a message.
struct Post {
  int from;
  int to;
  int tag;
  std::size_t size;
  const std::byte* source = nullptr;  // of a sender whose bytes are not kept
  std::byte* target = nullptr;
  std::vector<std::byte> kept = {};
  Clock::time_point due = {};
  bool is_kept = false;
  bool is_matched = false;
  std::string fault = {};
};

// What was sent to one rank and what it asked for.
class Mailbox {
 public:
  explicit Mailbox(std::size_t most_kept) : most_kept_(most_kept) {}

  void send(const std::shared_ptr<Post>& post) {
    const std::scoped_lock lock(mutex_);
    if (const std::shared_ptr<Post> receive = taken(receives_, *post)) {
      match(*post, *receive);
      return;
    }
    if (kept_ + post->size <= most_kept_) {
      post->kept.assign(post->source, post->source + post->size);
      post->is_kept = true;
      kept_ += post->size;
    }
    sends_.push_back(post);
  }

  void receive(const std::shared_ptr<Post>& post) {
    const std::scoped_lock lock(mutex_);
    if (const std::shared_ptr<Post> send = taken(sends_, *post)) {
      if (send->is_kept) kept_ -= send->size;
      match(*send, *post);
    } else {
      receives_.push_back(post);
    }
  }

  bool has_arrived(const Post& post) {
    const std::scoped_lock lock(mutex_);
    if (!post.fault.empty()) throw ClusterError(post.fault);
    return post.is_kept || (post.is_matched && Clock::now() >= post.due);
  }

  void look_out(const Post& post) {
    const auto end = Clock::now() + kLookOut;
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, end, [&] { return post.is_matched; });
    const auto due = post.due;
    lock.unlock();
    if (due > Clock::now()) std::this_thread::sleep_until(std::min(due, end));
  }

  // Bytes that are kept go on their way without their sender.
  void withdraw(const std::shared_ptr<Post>& post) {
    const std::scoped_lock lock(mutex_);
    if (post->is_kept) return;
    sends_.remove(post);
    receives_.remove(post);
  }

  void notify() { changed_.notify_all(); }

 private:
  // The oldest counterpart, out of its list.
  static std::shared_ptr<Post> taken(std::list<std::shared_ptr<Post>>& posts, const Post& like) {
    const auto found =
        std::ranges::find_if(posts, [&](const auto& post) { return post->from == like.from && post->tag == like.tag; });
    if (found == posts.end()) return nullptr;
    const std::shared_ptr<Post> post = *found;
    posts.erase(found);
    return post;
  }

  void match(Post& send, Post& receive) {
    if (send.size != receive.size) {
      send.fault = receive.fault = fmt::format("rank {} sent {} bytes of tag {}, of which rank {} expected {}",
                                               send.from, send.size, send.tag, receive.to, receive.size);
    } else if (send.size > 0) {
      std::memcpy(receive.target, send.is_kept ? send.kept.data() : send.source, send.size);
    }
    receive.due = send.due;
    send.is_matched = receive.is_matched = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::shared_ptr<Post>> sends_;
  std::list<std::shared_ptr<Post>> receives_;
  std::size_t most_kept_;
  std::size_t kept_ = 0;
};

// What the others know of a rank.
struct RankState {
  std::atomic<Clock::rep> lived = 0;
  std::atomic<bool> has_ended = false;
  std::atomic<Clock::rep> last_due = 0;  // of what it sent
  std::int64_t calls = 0;                // of its own thread
  std::mutex mutex;
  std::string words;  // guarded
};

class World {
 public:
  World(int ranks, const LocalOptions& options) : options_(options) {
    for (int rank = 0; rank < ranks; ++rank) {
      mailboxes_.push_back(std::make_unique<Mailbox>(options.queue_bytes));
      states_.push_back(std::make_unique<RankState>());
      states_.back()->lived = Clock::now().time_since_epoch().count();
    }
  }

  [[nodiscard]] const LocalOptions& options() const { return options_; }
  [[nodiscard]] int size() const { return static_cast<int>(states_.size()); }
  [[nodiscard]] Mailbox& mailbox(int rank) { return *mailboxes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] RankState& state(int rank) { return *states_[static_cast<std::size_t>(rank)]; }

  void live(int rank, std::string_view doing) {
    RankState& own = state(rank);
    if (!doing.empty()) {
      ++own.calls;
      const std::scoped_lock lock(own.mutex);
      own.words = doing;
    }
    for (const LocalFault& fault : options_.faults) {
      if (fault.rank == rank && own.calls > fault.after) suffer(fault, doing);
    }
    own.lived = Clock::now().time_since_epoch().count();
  }

  // When a message that leaves now arrives.
  [[nodiscard]] Clock::time_point due_of(int rank) {
    auto due = Clock::now();
    for (const LocalFault& fault : options_.faults) {
      const bool delays = fault.kind == LocalFault::Kind::delayed && fault.rank == rank;
      if (delays && state(rank).calls > fault.after) due += fault.by;
    }
    state(rank).last_due = due.time_since_epoch().count();
    return due;
  }

  // True if nothing more comes, nor is on its way.
  [[nodiscard]] bool has_ended(int rank) {
    const RankState& other = state(rank);
    return other.has_ended && Clock::now().time_since_epoch().count() > other.last_due;
  }

  [[nodiscard]] std::string failure() {
    if (!has_failed_) return {};
    const std::scoped_lock lock(mutex_);
    return failure_;
  }

  void fail(const std::string& why) {
    const std::scoped_lock lock(mutex_);
    if (has_failed_) return;
    failure_ = why;
    has_failed_ = true;
    for (const std::unique_ptr<Mailbox>& mailbox : mailboxes_) mailbox->notify();
    ended_.notify_all();
  }

  void note(const std::exception_ptr& error) {
    const std::scoped_lock lock(mutex_);
    if (first_error_ == nullptr) first_error_ = error;
  }

  enum class End : std::uint8_t { told, lost };
  void end(int rank, End how) {
    const std::scoped_lock lock(mutex_);
    if (how == End::told) state(rank).has_ended = true;
    ++threads_ended_;
    for (const std::unique_ptr<Mailbox>& mailbox : mailboxes_) mailbox->notify();
    ended_.notify_all();
  }

  // Until all ranks have ended, or the run's limit, at which it ends them.
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    const auto all_ended = [&] { return threads_ended_ == size(); };
    if (!options_.limit || ended_.wait_for(lock, *options_.limit, all_ended)) return;
    lock.unlock();
    std::string words = fmt::format("the run took longer than {} ms", options_.limit->count());
    for (int rank = 0; rank < size(); ++rank) {
      const std::scoped_lock own(state(rank).mutex);
      words += fmt::format("; rank {} {}", rank, state(rank).has_ended ? "has ended" : state(rank).words);
    }
    fail(words);
  }

  [[nodiscard]] std::exception_ptr first_error() const { return first_error_; }

 private:
  void suffer(const LocalFault& fault, std::string_view doing) {
    if (fault.kind == LocalFault::Kind::killed) throw Lost{};
    if (fault.kind == LocalFault::Kind::slow && !doing.empty()) std::this_thread::sleep_for(fault.by);
    if (fault.kind != LocalFault::Kind::stopped) return;
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return has_failed_ || threads_ended_ + 1 == size(); });
    throw Lost{};
  }

  const LocalOptions& options_;
  std::vector<std::unique_ptr<Mailbox>> mailboxes_;
  std::vector<std::unique_ptr<RankState>> states_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int threads_ended_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::string failure_;
  std::exception_ptr first_error_;
};

enum class Side : std::uint8_t { send, receive };

class LocalTransfer final : public Transfer {
 public:
  LocalTransfer(Mailbox& mailbox, std::shared_ptr<Post> post, Side side)
      : Transfer(side == Side::send ? post->to : post->from, post->tag, post->size),
        mailbox_(mailbox),
        post_(std::move(post)) {}
  ~LocalTransfer() override { mailbox_.withdraw(post_); }

 private:
  bool has_arrived() override { return mailbox_.has_arrived(*post_); }
  void look_out() override { mailbox_.look_out(*post_); }

  Mailbox& mailbox_;
  std::shared_ptr<Post> post_;
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(World& world, int rank) : Transport(rank, hosts_of(world), world.options().patience), world_(world) {}

 private:
  static std::vector<std::string> hosts_of(const World& world) {
    if (!world.options().hosts.empty()) return world.options().hosts;
    return std::vector<std::string>(static_cast<std::size_t>(world.size()), "local");
  }

  std::unique_ptr<Transfer> start_send(int to, int tag, std::span<const std::byte> bytes) override {
    const auto post = std::make_shared<Post>(
        Post{.from = rank(), .to = to, .tag = tag, .size = bytes.size(), .source = bytes.data()});
    post->due = world_.due_of(rank());
    world_.mailbox(to).send(post);
    return std::make_unique<LocalTransfer>(world_.mailbox(to), post, Side::send);
  }

  std::unique_ptr<Transfer> start_receive(int from, int tag, std::span<std::byte> bytes) override {
    const auto post = std::make_shared<Post>(
        Post{.from = from, .to = rank(), .tag = tag, .size = bytes.size(), .target = bytes.data()});
    world_.mailbox(rank()).receive(post);
    return std::make_unique<LocalTransfer>(world_.mailbox(rank()), post, Side::receive);
  }

  void live(std::string_view doing) override { world_.live(rank(), doing); }
  std::string failure() override { return world_.failure(); }
  void fail(const std::string& why) noexcept override { world_.fail(why); }
  milliseconds silence_of(int rank) override {
    const auto lived = Clock::duration(world_.state(rank).lived.load());
    return std::chrono::duration_cast<milliseconds>(Clock::now().time_since_epoch() - lived);
  }
  bool has_ended(int rank) override { return world_.has_ended(rank); }

  World& world_;
};

void run_rank(World& world, int rank, const std::function<void(Transport&)>& body) {
  LocalTransport transport(world, rank);
  World::End end = World::End::told;
  try {
    body(transport);
  } catch (const Lost&) {
    end = World::End::lost;  // the others have to find out
  } catch (const std::exception& error) {
    world.note(std::current_exception());
    transport.give_up(error.what());
  } catch (...) {
    world.note(std::current_exception());
    transport.give_up("an exception that is no std::exception");
  }
  world.end(rank, end);
}

void validate(int ranks, const LocalOptions& options) {
  constexpr std::string_view kFunction = "run_local";
  if (ranks < 1) throw InvalidArgument(kFunction, "ranks", "1 or more", std::to_string(ranks));
  if (!options.hosts.empty() && options.hosts.size() != static_cast<std::size_t>(ranks)) {
    throw InvalidArgument(kFunction, "hosts", fmt::format("a name for each of {} ranks", ranks),
                          std::to_string(options.hosts.size()));
  }
  if (options.patience.count() <= 0) {
    throw InvalidArgument(kFunction, "patience", "more than 0 ms", fmt::format("{} ms", options.patience.count()));
  }
  for (const LocalFault& fault : options.faults) {
    if (fault.rank >= 0 && fault.rank < ranks) continue;
    throw InvalidArgument(kFunction, "faults", fmt::format("a rank from 0 to {}", ranks - 1),
                          std::to_string(fault.rank));
  }
}

}  // namespace

void run_local(int ranks, const std::function<void(Transport&)>& body, const LocalOptions& options) {
  validate(ranks, options);
  World world(ranks, options);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&world, &body, rank] { run_rank(world, rank, body); });
    }
    world.wait_for_all();
  }
  if (world.first_error() != nullptr) std::rethrow_exception(world.first_error());
}

}  // namespace qkv
