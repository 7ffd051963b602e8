// What PyTorch made of a model: fixtures/torch_fixture.py is the other side.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "qkv/layers/parameters.h"

namespace qkv::tests {

/// The case of this name in tests/model/fixtures/<file>.
[[nodiscard]] nlohmann::json torch_case(const std::string& file, const std::string& name);

/// The options of a case as words, under "kind" its name.
[[nodiscard]] std::map<std::string, std::string> torch_options(const nlohmann::json& fixture);

/// The numbers of an input as i64.
[[nodiscard]] Tensor torch_ids(const nlohmann::json& fixture, const std::string& input, const Shape& shape);

/// Fails where the model of f64, from the fixture's start on, has other parameters, another loss or gradient than
/// PyTorch's, or comes elsewhere in ten AdamW steps.
void expect_as_torch(const nlohmann::json& fixture, const learn::Parameters& parameters,
                     const std::function<Variable()>& loss);

}  // namespace qkv::tests
