// The models of the box, with what each has learnt; and how a model is opened.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/api/about.h"
#include "qkv/api/field.h"
#include "qkv/api/models.h"

namespace qkv::api_detail {

[[nodiscard]] std::vector<AboutModel> models_of_the_box();

/// The model of this name or path, read now. Throws as open_model().
[[nodiscard]] OpenedModel read_model(const std::string& name, ModelNumbers numbers = ModelNumbers::f32);

/// open_model() with a request's field `dtype`; says how quantised weights are computed with as they lie.
[[nodiscard]] OpenedModel open_in_dtype(const std::string& name, std::string_view dtype, const Saying& saying);

/// The field `dtype` of a question about a model's inside.
[[nodiscard]] FieldInfo numbers_field(const std::string& group = "");

/// What whoever reads what the model makes of the example has to know: of the model, and of a text that its task never
/// draws.
[[nodiscard]] std::vector<std::string> cautions_of(const TextModel& model, const Example& example);

/// open_model() for a request that calls it otherwise.
[[nodiscard]] OpenedModel open_named(std::string_view field, const std::string& name, const Saying& saying,
                                     std::optional<ModelNumbers> numbers);

}  // namespace qkv::api_detail
