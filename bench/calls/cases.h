// The calls that `make bench` times: the tiles of the shapes A to G of docs/performance.md, at lengths that take
// milliseconds.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace qkv::bench {

struct Case {
  std::string_view name;
  std::int64_t b, hq, hk, tq, tk, d;
  std::string_view mask = "all()";
  std::string_view bias = "none";  // "none", "alibi()" or "dense": [Tq, Tk] of random numbers
};

inline constexpr std::array kCases = {
    Case{"A", 1, 12, 12, 512, 512, 64},
    Case{"B_shorter", 1, 4, 4, 1024, 1024, 64},
    Case{"C_shorter", 1, 4, 4, 1024, 1024, 64, "causal()"},
    Case{"D_shorter", 1, 8, 2, 1024, 1024, 128, "causal()"},
    Case{"E_shorter", 1, 32, 8, 1, 4096, 128},
    Case{"F", 8, 12, 12, 128, 128, 64},
    Case{"G_shorter", 1, 2, 2, 2048, 2048, 64, "causal()"},
    Case{"window", 1, 2, 2, 2048, 2048, 64, "causal() & window(512)"},
    Case{"documents", 1, 2, 2, 2048, 2048, 64, "causal() & documents(500, 1000, 548)"},
    Case{"strided", 1, 2, 2, 2048, 2048, 64, "causal() & (window(128) | strided(64))"},
    Case{"alibi", 1, 4, 4, 1024, 1024, 64, "all()", "alibi()"},
    Case{"dense_bias", 1, 4, 4, 1024, 1024, 64, "all()", "dense"},
};

}  // namespace qkv::bench
