#include <fmt/format.h>

#include <cmath>

#include "course/pieces.h"
#include "course/seeds.h"
#include "qkv/cost.h"

namespace qkv::worked {
namespace {

std::string short_bytes_text(const CostItem& item) {
  return item.arithmetic + " = " + short_amount(item.value, CostUnit::bytes);
}

CostReport square_model(std::int64_t tokens) {
  return cost({.name = "32 layers of 32 heads", .layers = 32, .d_model = 4096, .heads = 32, .tokens = tokens});
}

void memory_table(Worked& worked) {
  const auto claim = [&](std::int64_t tokens, const char* printed, double gibibytes) {
    const CostItem item = square_model(tokens).item("scores.all_layers");
    return statement(fmt::format("memory at {} tokens", tokens), printed, short_bytes_text(item),
                     holds_if(item.value.to_double() == gibibytes * 0x1p30),
                     "With 4,096 B a pair, as 32 layers of 32 heads in f32 take; the lab names no model.");
  };
  worked.steps = {{"Bytes a pair of tokens",
                   "1 GiB / 512² = 4,096 B = 32 layers × 32 heads × 4 B",
                   "The whole column follows from that one choice. GPT-3 takes nine times as much a pair.",
                   {shown("GiB", vector_of({1, 16, 256}), {}, {"512", "2048", "8192"}, 0)}}};
  worked.claims = {
      claim(512, "1 GB", 1),
      claim(2048, "16 GB", 16),
      claim(8192, "256 GB", 256),
      figure("time at 2048 tokens, 0.1 s × 4²", "1.6", 0.1 * 16),
      figure("time at 8192 tokens, 0.1 s × 16²", "25", 0.1 * 256, "Cut, not rounded.", 1),
      not_derivable("time at 512 tokens", "0.1s", "only the ratios 1 : 16 : 256 follow",
                    "Seconds need a machine and a model; the lab names neither."),
  };
}

void parameters(Worked& worked) {
  CostConfig config{.layers = 1, .d_model = 512, .heads = 8};
  const auto projections = [](const CostReport& report) {
    return report.item("weights.attention").value.to_double() / 4 * 3;  // all but W_O
  };
  const double eight = projections(cost(config));
  config.heads = 1;
  const double one = projections(cost(config));
  const double separate = 8 * (512 * 64 + 64);
  const double packed = 512 * 512 + 512;
  worked.steps = {{"Q, K and V of width 512",
                   "512 × 512 × 3",
                   "",
                   {shown("parameters", vector_of({one, eight}), {}, {"1 head", "8 heads"}, 0)}},
                  {"One projection as eight linear layers",
                   "8 × (512 × 64 + 64) = 512 × 512 + 512",
                   "",
                   {shown("parameters", vector_of({separate, packed}), {}, {"eight", "one"}, 0)}}};
  worked.claims = {
      figure("exercise 2, params_single = 512 × 512 × 3", "786432", one),
      figure("exercise 2, params_multi", "786432", eight),
      statement("pitfall 4, separate linear layers for each head", "many parameters",
                fmt::format("{} and {}", Count(static_cast<std::uint64_t>(separate)).grouped(),
                            Count(static_cast<std::uint64_t>(packed)).grouped()),
                holds_if(separate > packed), "The same number; eight small products are slower, not larger."),
  };
}

void head_count(Worked& worked) {
  const auto core = [](std::int64_t heads, const char* key) {
    return cost({.layers = 1, .d_model = 512, .heads = heads, .tokens = 100}).item(key).value;
  };
  const Count scores = core(8, "flops.layer.scores");
  const Count softmax = core(8, "flops.layer.softmax");
  worked.claims = {
      statement(
          "multi-head attention, total computation", "same as single head",
          fmt::format("Q K^T: {} FLOP with 8 heads, {} with 1; softmax: {} and {}", scores.grouped(),
                      core(1, "flops.layer.scores").grouped(), softmax.grouped(),
                      core(1, "flops.layer.softmax").grouped()),
          holds_if(scores == core(1, "flops.layer.scores") && softmax == core(1, "flops.layer.softmax")),
          "True of the products. Each head has a T × T matrix of its own, so softmax and memory grow with heads."),
  };
}

void gpt4(Worked& worked) {
  const CostConfig gpt3 = cost_preset("gpt3");
  CostConfig long_context = gpt3;
  long_context.tokens = 32768;
  const auto share = [](const CostConfig& config) {
    const CostReport report = cost(config);
    return 100 * report.item("flops.model.core").value.to_double() / report.item("flops.forward").value.to_double();
  };
  const double pairs = 32768.0 * 32768.0;
  worked.steps = {{"Share of the T × T part in a forward pass of GPT-3",
                   "core / all FLOPs",
                   "In percent, at 2,048 and at 32,768 tokens.",
                   {shown("percent", vector_of({share(gpt3), share(long_context)}), {}, {"2048", "32768"}, 1)}}};
  worked.claims = {
      figure("96 layers × 96 heads", "9,216", static_cast<double>(gpt3.layers * gpt3.heads),
             "The layers and heads are those published for GPT-3; GPT-4's are not."),
      figure("32k tokens, pairs of one head in billions", "1", pairs / 1e9, "", 2),
      statement("pairs of a whole forward pass at 32k tokens", "1 billion",
                fmt::format("{:.1f} × 10^12", pairs * 9216 / 1e12), Holds::no,
                "A billion is one head of one layer; there are 9,216."),
      statement("most of the cost of a query is attention", "most",
                fmt::format("{:.1f} % at 2,048 tokens, {:.1f} % at 32,768", share(gpt3), share(long_context)),
                holds_if(share(long_context) > 50),
                "At GPT-3's width, counting all that touches a T × T matrix; the "
                "projections and feed-forward layers are the rest."),
      not_derivable("price of a query", "$0.03", "-", "Nothing in the lab says of what it is made up."),
  };
}

}  // namespace

std::vector<Entry> lab_sizes() {
  return {
      {{"lab-memory", kLab, "key concepts, section 1", "The table of memory and time",
        "Which model gives these gigabytes, and what of the seconds follows."},
       memory_table},
      {{"lab-parameters", kLab, "exercise 2 and pitfall 4", "Parameters of one head and of eight",
        "They are the same."},
       parameters},
      {{"lab-heads", kLab, "multi-head attention", "The work of one head and of eight",
        "The products cost the same, softmax and the matrices do not."},
       head_count},
      {{"lab-gpt4", kLab, "connections to production", "Large numbers of a large model",
        "What follows from 96 and 96, and what does not."},
       gpt4},
  };
}

}  // namespace qkv::worked
