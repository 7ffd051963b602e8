// Memory that clients share: what each holds counts until it lets go.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace qkv::studio {

class Budget {
 public:
  explicit Budget(std::size_t most) : most_(most), held_(std::make_shared<std::atomic<std::size_t>>(0)) {}

  /// Bytes of the budget, given back in the end.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept : held_(std::move(other.held_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(held_, other.held_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (held_ != nullptr) held_->fetch_sub(bytes_);
    }

   private:
    friend class Budget;
    std::shared_ptr<std::atomic<std::size_t>> held_;
    std::size_t bytes_ = 0;
  };

  /// False, and nothing taken, where there is not so much left.
  [[nodiscard]] bool add(Share& share, std::size_t bytes) {
    if (held_->fetch_add(bytes) + bytes > most_) {
      held_->fetch_sub(bytes);
      return false;
    }
    share.held_ = held_;
    share.bytes_ += bytes;
    return true;
  }

 private:
  std::size_t most_;
  std::shared_ptr<std::atomic<std::size_t>> held_;
};

}  // namespace qkv::studio
