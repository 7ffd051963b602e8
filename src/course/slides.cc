#include <fmt/format.h>

#include <cmath>

#include "course/pieces.h"
#include "course/seeds.h"
#include "qkv/cost.h"

namespace qkv::worked {
namespace {

std::string bytes_text(const CostItem& item) {
  return item.arithmetic + " = " + amount_text(item.value, CostUnit::bytes);
}

double ratio(const CostReport& a, const CostReport& b, const char* key) {
  return a.item(key).value.to_double() / b.item(key).value.to_double();
}

CostReport gpt3_at(std::int64_t tokens) {
  CostConfig config = cost_preset("gpt3");
  config.tokens = tokens;
  return cost(config);
}

void gpt3_memory(Worked& worked) {
  const CostReport report = gpt3_at(2048);
  const CostReport doubled = gpt3_at(4096);
  const CostItem& layer = report.item("scores.all_heads");
  const CostItem& all = report.item("scores.all_layers");
  const auto gib = [&](const char* key) { return report.item(key).value.to_double() / 0x1p30; };
  worked.steps = {
      {"f32 scores of GPT-3 at 2,048 tokens, in GiB",
       "heads × 2,048² × 4 B",
       "",
       {shown("GiB",
              vector_of({gib("scores.one_head"), gib("scores.all_heads"), gib("scores.all_layers"), gib("scores.lse")}),
              {}, {"one head", "one layer", "all layers", "lse of all layers"}, 4)}}};
  const CostConfig preset = cost_preset("gpt3");
  worked.claims = {
      figure("systems constraints, 2048 × 2048", "4,194,304", report.item("scores.one_head").value.to_double() / 4),
      statement("systems constraints, attention weights of a model instance", "~ 1.5 GB", bytes_text(all),
                holds_if(std::fabs(all.value.to_double() / 1.5e9 - 1) < 0.1),
                "1.5 GB is one layer's 96 heads in f32: " + bytes_text(layer) +
                    ". Inference may hold one layer at a time; training keeps all 96."),
      statement("systems constraints, doubling the sequence", "quadruples memory",
                fmt::format("scores × {:.0f}, all activations × {:.2f}, tiled × {:.2f}",
                            ratio(doubled, report, "scores.all_layers"), ratio(doubled, report, "activations.standard"),
                            ratio(doubled, report, "activations.tiled")),
                holds_if(ratio(doubled, report, "scores.all_layers") == 4), "True of the score matrices."),
      statement("production optimizations, FlashAttention", "O(n²) to O(n) memory",
                fmt::format("twice the tokens: scores × {:.0f}, lse × {:.0f}",
                            ratio(doubled, report, "scores.all_layers"), ratio(doubled, report, "scores.lse")),
                holds_if(ratio(doubled, report, "scores.lse") == 2),
                "Kept for the backward at 2,048 tokens: " + bytes_text(report.item("scores.lse")) + "."),
      statement("systems analysis, training needs massive buffers for attention", "massive", bytes_text(all),
                holds_if(all.value > report.item("activations.ffn").value),
                "The largest share of what standard attention keeps, more than the feed-forward layers."),
      figure("003, GPT-3's context in tokens", "2048", static_cast<double>(preset.learned_positions)),
  };
}

void scale_of_a_head(Worked& worked) {
  const CostConfig gpt3 = cost(cost_preset("gpt3")).config;
  const double head = 1 / std::sqrt(static_cast<double>(*gpt3.d_k));
  const double model = 1 / std::sqrt(static_cast<double>(gpt3.d_model));
  worked.steps = {{"The scale in GPT-3",
                   "1 / sqrt(128) and 1 / sqrt(12,288)",
                   "",
                   {shown("scale", vector_of({head, model}), {}, {"d_k", "d_model"}, 6)}}};
  worked.claims = {statement(
      "step 2, scores / sqrt(d_model)", "d_model = Q.shape[-1]",
      fmt::format("with the model's width scores are {:.2f} times too small", head / model), Holds::no,
      "The last axis of Q is a head's width, d_k. The listing computes the right scale under the wrong name; taken at "
      "its word, weights would be all but even.")};
}

void parameters_of_heads(Worked& worked) {
  CostConfig config = cost_preset("gpt3");
  const Count many = cost(config).item("weights.attention").value;
  config.heads = 1;
  const Count one = cost(config).item("weights.attention").value;
  worked.claims = {statement("why one head is not enough: total parameter count", "remains constant",
                             fmt::format("{} with 96 heads, {} with 1", many.grouped(), one.grouped()),
                             holds_if(many == one))};
}

}  // namespace

std::vector<Entry> slides() {
  return {
      {{"gpt3-memory", kSlides, "systems constraints and memory wall", "GPT-3 at 2,048 tokens",
        "1.5 GB is one layer; all layers are 144 GiB."},
       gpt3_memory},
      {{"module-scale", kSlides, "step 2", "Which width the scale takes", "The head's, not the model's."},
       scale_of_a_head},
      {{"module-heads", kSlides, "why one head is not enough", "Parameters and heads", "Heads are split, not added."},
       parameters_of_heads},
  };
}

}  // namespace qkv::worked
