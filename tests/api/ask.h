// Asks a studio, and reads the tensors of its reply.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "qkv/api/refusal.h"
#include "qkv/api/studio.h"

namespace qkv {

using Json = nlohmann::json;

/// A reply with its tensors.
struct Answer {
  Json json;
  std::vector<std::byte> blocks;

  template <class T = double>
  [[nodiscard]] std::vector<T> numbers(const Json& tensor) const {
    std::size_t count = 1;
    for (const auto& extent : tensor["shape"]) count *= extent.get<std::size_t>();
    std::vector<T> values(count);
    EXPECT_EQ(tensor["dtype"], std::string(name_of(dtype_of_v<T>)));
    std::memcpy(values.data(), blocks.data() + tensor["at"].get<std::size_t>(), count * sizeof(T));
    return values;
  }

  /// Of a reply about the bench.
  [[nodiscard]] const Json& matrix(const std::string& name) const {
    for (const Json& one : json["matrices"]) {
      if (one["name"] == name) return one;
    }
    ADD_FAILURE() << "no matrix " << name;
    return json;
  }

  [[nodiscard]] std::vector<double> row(const std::string& name, std::size_t at) const {
    const std::vector<double> all = numbers(matrix(name)["values"]);
    const auto columns = matrix(name)["values"]["shape"][1].get<std::size_t>();
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(at * columns);
    return {from, from + static_cast<std::ptrdiff_t>(columns)};
  }
};

inline Answer ask(const std::string& question, const std::string& request) {
  Studio studio;
  StudioReply reply = studio.ask(question, request);
  return {Json::parse(reply.json), std::move(reply.blocks)};
}

/// The field that a request is refused for; empty where it is taken.
inline std::string refused_field(const std::string& question, const std::string& request) {
  try {
    ask(question, request);
    return {};
  } catch (const InvalidArgument& error) {
    return refusal_of(error).field;
  }
}

}  // namespace qkv
