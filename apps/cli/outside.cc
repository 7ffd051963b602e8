#include "outside.h"

#include "output.h"

namespace qkv::cli {

void warn_outside(std::string_view command, const TextModel& model, const std::string& text) {
  if (model.lengths().image_side > 0) return;
  Example example = model.example_of(text);
  model.mark(example);
  for (const std::string& what : model.outside(example)) complain(command, "careful: " + what);
}

}  // namespace qkv::cli
