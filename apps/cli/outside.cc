#include "outside.h"

#include "output.h"

namespace qkv::cli {

void warn_outside(std::string_view command, const TrainedModel& model, const std::string& text) {
  if (model.task().lengths().image_side > 0) return;
  TaskExample example = model.example_of(text);
  model.task().mark(example);
  for (const std::string& what : model.task().outside(example)) complain(command, "careful: " + what);
}

}  // namespace qkv::cli
