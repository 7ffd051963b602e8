#include "train/run_log.h"

#include <cerrno>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "files/descriptor.h"
#include "files/json_numbers.h"
#include "files/reading.h"
#include "qkv/files.h"

namespace qkv {
namespace {

using Numbers = std::map<std::string, files::JsonNumber, std::less<>>;

std::string line_of(const LoggedStep& step) {
  std::vector<std::pair<const char*, files::JsonNumber>> line = {{"step", step.step},
                                                                 {"loss", step.loss},
                                                                 {"gradient_norm", step.gradient_norm},
                                                                 {"learning_rate", step.learning_rate},
                                                                 {"tokens", step.tokens},
                                                                 {"seconds", step.seconds}};
  if (step.accuracy) line.emplace_back("accuracy", *step.accuracy);
  if (step.held_out_loss) line.emplace_back("held_out_loss", *step.held_out_loss);
  return files::numbers_as_json(line) + "\n";
}

std::optional<double> number_if_there(const Numbers& line, const char* word) {
  const auto found = line.find(word);
  if (found == line.end()) return std::nullopt;
  return std::visit([](const auto number) { return static_cast<double>(number); }, found->second);
}

// Null stands for a number that is not finite.
double number_in(const Numbers& line, const char* word) { return number_if_there(line, word).value_or(0); }

LoggedStep step_of(const Numbers& line, std::int64_t step) {
  return {.step = step,
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
    const auto line = files::numbers_in_json(text);
    const auto found = line ? line->find("step") : Numbers::const_iterator();
    if (!line || found == line->end()) continue;
    if (const auto* step = std::get_if<std::int64_t>(&found->second)) steps.push_back(step_of(*line, *step));
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
