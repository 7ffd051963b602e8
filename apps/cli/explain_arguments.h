// What `qkv explain` was given.
#pragma once

#include <optional>
#include <string>

#include "explain_files.h"
#include "explain_model.h"
#include "qkv/explain.h"

namespace qkv::cli {

struct ExplainArguments {
  std::optional<std::string> text;
  std::string mask;
  std::string seed = "42";
  bool is_causal = false;
  std::optional<double> dropout;
  std::string bias;
  std::string position = "sinusoidal";
  std::optional<std::string> block;
  std::optional<std::string> whys;
  std::string npz;
  OwnPaths own;
  std::optional<std::string> steps;
  std::string worked;
  TrainedArguments trained;
  std::string all;  // "", "true", "full"
  bool json = false;
  bool prints = false;
  bool quiet = false;
  std::string color = "auto";
  std::optional<int> width;
  ExplainFiles files;
  ExplainOptions options;
};

}  // namespace qkv::cli
