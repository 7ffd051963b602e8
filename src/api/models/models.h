// The models of the box, with what each has learnt; and how a model is opened.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/about.h"
#include "qkv/api/models.h"

namespace qkv::api_detail {

[[nodiscard]] std::vector<AboutModel> models_of_the_box();

/// The model of this name or path, read now. Throws as open_model().
[[nodiscard]] OpenedModel read_model(const std::string& name, QuantisedWeights quantised = QuantisedWeights::as_f32);

/// What whoever reads what the model makes of the example has to know: of the model, and of a text that its task never
/// draws.
[[nodiscard]] std::vector<std::string> cautions_of(const TextModel& model, const Example& example);

/// open_model() for a request that calls it otherwise.
[[nodiscard]] OpenedModel open_named(std::string_view field, const std::string& name, const Saying& saying,
                                     QuantisedWeights quantised);

}  // namespace qkv::api_detail
