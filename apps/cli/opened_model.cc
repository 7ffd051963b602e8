#include "opened_model.h"

#include "output.h"

namespace qkv::cli {

void say_cautions(std::string_view command, const Model& model) {
  for (const std::string& what : model.cautions()) complain(command, "careful: " + what);
}

TrainedModel opened_model(std::string_view command, const std::string& name, QuantisedWeights quantised) {
  TrainedModel trained = TrainedModel::read(trained_model_path(name), quantised);
  say_cautions(command, trained.model());
  return trained;
}

}  // namespace qkv::cli
