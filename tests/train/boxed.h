// Models of the box.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "qkv/train/trained_model.h"

namespace qkv::tests {

/// A model of the box, opened once in a program.
inline const TrainedModel& boxed(std::string_view name) {
  static std::map<std::string, TrainedModel, std::less<>> opened;
  auto found = opened.find(name);
  if (found == opened.end()) found = opened.emplace(name, TrainedModel::read(trained_model_path(name))).first;
  return found->second;
}

}  // namespace qkv::tests
