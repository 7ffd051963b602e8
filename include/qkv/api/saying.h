// What a question says to whoever waits for its answer.
#pragma once

#include <functional>
#include <string>

namespace qkv {

/// Either may be empty.
struct Saying {
  std::function<void(const std::string& what)> caution = {};  // what a reader of the answer has to know
  std::function<void(const std::string& what)> doing = {};    // of work that takes long: what is done now

  /// To `caution`, or where it is empty to the thread's HearsCautions.
  void careful(const std::string& what) const;
  [[nodiscard]] bool is_heard() const noexcept;
};

/// While it lives, cautions of this thread that nobody else hears: those of answers that have no Saying.
class HearsCautions {
 public:
  using Hear = std::function<void(const std::string& what)>;

  explicit HearsCautions(Hear hear);
  HearsCautions(const HearsCautions&) = delete;
  HearsCautions& operator=(const HearsCautions&) = delete;
  ~HearsCautions();

 private:
  Hear hear_;
  const Hear* outer_;
};

/// For whoever waits: "12 s", "3 min 05 s", rounded up.
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace qkv
