// The sections of an explanation, made from a run: each file of this room that is named after one makes it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explain/drawn_model.h"
#include "explain/run.h"
#include "explain/words.h"
#include "insight/find_token.h"
#include "qkv/explain.h"

namespace qkv::explain_detail {

/// What every maker of sections is given.
struct Scene {
  const ExplainOptions* options = nullptr;
  const DrawnModel* model = nullptr;  // null for the reader's own tensors
  const Run* run = nullptr;
};

/// A step that is made when it is wanted: those of T x T matrices take long.
struct LazyStep {
  std::string id;
  std::function<Section()> make;
  int number = 0;
};

/// All sections of the scene.
[[nodiscard]] Explanation explain_run(const Scene& scene);

[[nodiscard]] std::vector<Section> input_steps(const Scene& scene);        // tokens … X
[[nodiscard]] std::vector<Section> projection_steps(const Scene& scene);   // Q, K, V, rotation
[[nodiscard]] std::vector<LazyStep> score_steps(const Scene& scene);       // raw scores … softmax
[[nodiscard]] std::vector<LazyStep> output_steps(const Scene& scene);      // weighted sum … output projection
[[nodiscard]] std::vector<Section> norm_steps_before(const Scene& scene);  // a pre-norm block's first LayerNorm
[[nodiscard]] std::vector<Section> block_steps(const Scene& scene);        // the rest of a block

/// One token's sum, written out term by term.
[[nodiscard]] Section query_section(const Scene& scene, const insight::TokenChoice& query);

[[nodiscard]] std::vector<Section> whys_about_scaling(const Scene& scene);
[[nodiscard]] std::vector<Section> whys_about_order(const Scene& scene);
[[nodiscard]] std::vector<Section> whys_about_masking(const Scene& scene);
[[nodiscard]] std::vector<Section> whys_about_shapes(const Scene& scene);

}  // namespace qkv::explain_detail
