#include "train/run_log.h"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "files/descriptor.h"
#include "files/reading.h"
#include "qkv/files.h"

namespace qkv {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const LoggedStep& step) {
  Json line = {{"step", step.step},
               {"loss", step.loss},
               {"gradient_norm", step.gradient_norm},
               {"learning_rate", step.learning_rate},
               {"tokens", step.tokens},
               {"seconds", step.seconds}};
  if (step.accuracy) line["accuracy"] = *step.accuracy;
  if (step.held_out_loss) line["held_out_loss"] = *step.held_out_loss;
  return line.dump() + "\n";
}

// Null stands for a number that is not finite.
double number_in(const Json& line, const char* word) {
  return line.contains(word) && line[word].is_number() ? line[word].get<double>() : 0.0;
}

std::optional<double> number_if_there(const Json& line, const char* word) {
  if (!line.contains(word) || !line[word].is_number()) return std::nullopt;
  return line[word].get<double>();
}

LoggedStep step_of(const Json& line) {
  return {.step = line["step"].get<std::int64_t>(),
          .loss = number_in(line, "loss"),
          .gradient_norm = number_in(line, "gradient_norm"),
          .learning_rate = number_in(line, "learning_rate"),
          .tokens = static_cast<std::int64_t>(number_in(line, "tokens")),
          .seconds = number_in(line, "seconds"),
          .accuracy = number_if_there(line, "accuracy"),
          .held_out_loss = number_if_there(line, "held_out_loss")};
}

}  // namespace

std::vector<LoggedStep> read_log(const TrainPlace& place) {
  files::require_file_or_folder(place.log());
  std::vector<LoggedStep> steps;
  std::ifstream file(place.log());
  for (std::string text; std::getline(file, text);) {
    const Json line = Json::parse(text, nullptr, false);
    if (line.is_object() && line.contains("step") && line["step"].is_number_integer()) steps.push_back(step_of(line));
  }
  return steps;
}

training::RunLog::RunLog(const TrainPlace& place, std::int64_t done) : path_(place.log()) {
  std::string kept;
  if (done > 0) {
    for (const LoggedStep& step : read_log(place)) {
      if (step.step <= done) kept += line_of(step);
    }
  }
  write_file(path_, kept);
}

void training::RunLog::append(const LoggedStep& step) const {
  std::ofstream file(path_, std::ios::app);
  file << line_of(step) << std::flush;
  if (!file) files::fail("cannot write", path_, files::system_reason(errno));
}

}  // namespace qkv
