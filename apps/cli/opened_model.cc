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

EmbedOptions vectors_without_prompt(std::string_view command, const std::string& path) {
  EmbedOptions options = embed_options_of(path);
  for (const std::string& what : options.cautions) complain(command, "careful: " + what);
  if (!options.prompt.empty()) {
    complain(command, "careful: the model's default prompt \"" + options.prompt +
                          "\" is not put before the text: write it there if it is meant");
  }
  if (options.similarity != "cosine") {
    complain(command, "careful: the model's vectors are compared by " + options.similarity +
                          " (similarity_fn_name); what is shown are cosines");
  }
  return options;
}

}  // namespace qkv::cli
