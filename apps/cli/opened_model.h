// Models that a command opens.
#pragma once

#include <string>
#include <string_view>

#include "qkv/train/trained_model.h"

namespace qkv::cli {

/// A line on standard error for each of model.cautions().
void say_cautions(std::string_view command, const Model& model);

/// A model of the box, a file or a folder by its name, and its cautions on standard error. Throws as
/// trained_model_path() and TrainedModel::read().
[[nodiscard]] TrainedModel opened_model(std::string_view command, const std::string& name,
                                        QuantisedWeights quantised = QuantisedWeights::as_f32);

}  // namespace qkv::cli
