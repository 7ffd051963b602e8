#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "page_requests.h"
#include "qkv/api/bench.h"
#include "qkv/explain/bench.h"

namespace qkv::studio {
namespace {

constexpr std::int64_t kUsualQuery = 1;  // where there are two

class StepRequests {
 public:
  StepRequests(Frozen& frozen, Request base, const FileBounds& bounds)
      : frozen_(frozen), base_(std::move(base)), room_(frozen, bounds) {
    base_.erase("query");
  }

  // Of the query that the request asks for, or the usual one.
  void add_all(const Request& request) {
    const auto& first = frozen_.added<BenchReply>("bench", request);  // refused here, it throws
    const std::int64_t query = first.query;
    const std::int64_t queries = std::ssize(first.queries);
    add_numbers(asking(query), first);
    for (std::int64_t other = 0; other < queries && room_.is_left(); ++other) {
      add_numbers(asking(other), frozen_.added<BenchReply>("bench", asking(other)));
    }
    for (std::int64_t other = 0; other < queries; ++other) add_mistakes(other);
    for (std::int64_t other = 0; other < queries; ++other) add_pictures(other, std::ssize(first.keys));
    // Backward from the first output of each row: where the button leads; then from the others.
    add_backward(query, query, 0);
    for (std::int64_t other = 0; other < queries; ++other) add_backward(other, other, 0);
    for (std::int64_t row = 0; row < queries; ++row) {
      for (std::int64_t column = 0; column < first.d_v; ++column) add_backward(query, row, column);
    }
  }

 private:
  [[nodiscard]] Request asking(std::int64_t query) const {
    Request request = base_;
    if (query != kUsualQuery) request["query"] = query;
    return request;
  }

  void add_numbers(Request request, const BenchReply& bench) {
    for (const BenchMatrix& matrix : bench.matrices) {
      const std::int64_t columns = matrix.values.dim(1);
      for (std::int64_t cell = 0; cell < matrix.values.size() && room_.is_left(); ++cell) {
        request["of"] = matrix.name + ":" + std::to_string(matrix.first_row + cell / columns) + "," +
                        std::to_string(cell % columns);
        frozen_.add("number", request);
      }
    }
  }

  void add_mistakes(std::int64_t query) {
    for (const std::string& id : bench_mistakes()) {
      Request request = asking(query);
      request["wrong"] = id;
      if (room_.is_left()) frozen_.add_if_answered("bench", request);
    }
  }

  // What a step is made of: for the heaviest key, and for each that is offered as a chip.
  void add_pictures(std::int64_t query, std::int64_t keys) {
    constexpr std::int64_t kMostChips = 12;
    Request request = asking(query);
    if (!room_.is_left() || !frozen_.add_if_answered("pictures", request)) return;
    for (std::int64_t key = 0; key < keys && keys <= kMostChips && room_.is_left(); ++key) {
      request["key"] = key;
      frozen_.add("pictures", request);
    }
  }

  void add_backward(std::int64_t query, std::int64_t row, std::int64_t column) {
    if (!room_.is_left()) return;
    Request request = asking(query);
    request["move"] = std::to_string(row) + "," + std::to_string(column);
    add_numbers(request, frozen_.added<BenchReply>("bench", request));
  }

  Frozen& frozen_;
  Request base_;
  Room room_;
};

}  // namespace

void freeze_step(Frozen& frozen, const Request& request, const FileBounds& bounds) {
  StepRequests step(frozen, request, bounds);
  frozen.add("about", {});
  frozen.add_if_answered("operations", {});
  step.add_all(request);
}

}  // namespace qkv::studio
