// A training run, finished or at work: its curves and the models that it kept, for the page Learn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/member.h"
#include "qkv/tensor.h"

namespace qkv {

struct LearnRequest {
  std::string run;
};

/// A directory in which a run writes.
struct LearnRun {
  std::string directory;
  std::string task;
  std::int64_t done = 0;   // steps
  std::int64_t steps = 0;  // of the whole run
  bool at_work = false;
};

struct LearnExamination {
  std::int64_t step = 0;
  double accuracy = 0;
  std::optional<double> loss;
};

/// A model that the run kept: heads() and head() take its path.
struct LearnModel {
  std::int64_t step = 0;
  std::string path;
};

/// What can be learnt by the question `train`.
struct LearnTask {
  std::string name, description;
  std::int64_t steps = 0;  // of its recipe
};

struct LearnReply {
  std::vector<LearnTask> tasks;
  std::vector<LearnRun> runs;  // those below the directory in which qkv was started
  std::optional<LearnRun> run;
  Tensor step;                       // i64 [n]: the steps that are drawn
  Tensor loss, gradient_norm, rate;  // f64 [n]
  std::int64_t every = 1;            // of a long run each so many-th step is drawn
  double seconds = 0;                // of the run so far
  std::vector<LearnExamination> examined;
  std::vector<LearnModel> kept;
  std::optional<double> goal;  // the share of right answers that the task asks for
  std::string sentence;
};

[[nodiscard]] const Fields<LearnRequest>& learn_fields();

[[nodiscard]] Members<LearnRun> describe(const LearnRun* run);
[[nodiscard]] Members<LearnExamination> describe(const LearnExamination* examination);
[[nodiscard]] Members<LearnModel> describe(const LearnModel* model);
[[nodiscard]] Members<LearnTask> describe(const LearnTask* task);
[[nodiscard]] Members<LearnReply> describe(const LearnReply* reply);

}  // namespace qkv
