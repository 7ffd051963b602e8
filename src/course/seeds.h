// The examples of each seed: pairs of an entry of the list and what computes it.
#pragma once

#include <vector>

#include "qkv/course/worked.h"

namespace qkv::worked {

struct Entry {
  WorkedExample example;
  void (*compute)(Worked& worked);  // fills steps and claims
};

[[nodiscard]] std::vector<Entry> foundations();       // 000, what it builds on
[[nodiscard]] std::vector<Entry> before_attention();  // 003 and 004, what attention answers
[[nodiscard]] std::vector<Entry> scratch_notebook();  // 000
[[nodiscard]] std::vector<Entry> scratch_remarks();   // 000, in passing
[[nodiscard]] std::vector<Entry> math_notebook();     // 001
[[nodiscard]] std::vector<Entry> chapter();           // 002
[[nodiscard]] std::vector<Entry> chapter_code();      // 002, its listings
[[nodiscard]] std::vector<Entry> lab();               // 003
[[nodiscard]] std::vector<Entry> lab_sizes();         // 003, memory and parameters
[[nodiscard]] std::vector<Entry> pitfalls();          // 003 and 004
[[nodiscard]] std::vector<Entry> slides();            // 004

inline constexpr const char* kScratch = "000, attention from scratch (notebook)";
inline constexpr const char* kMath = "001, the math of attention (notebook)";
inline constexpr const char* kChapter = "002, self-attention (chapter)";
inline constexpr const char* kLab = "003, attention mechanisms (lab)";
inline constexpr const char* kSlides = "004, module 12: attention (slides)";
inline constexpr const char* kLabAndSlides = "003 and 004, the lab and module 12";

}  // namespace qkv::worked
