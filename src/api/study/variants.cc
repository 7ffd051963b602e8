// What `qkv bench variants` is asked.
#include <fmt/format.h>

#include "api/fields/refuse.h"
#include "api/fields/shared_fields.h"
#include "core/number_text.h"
#include "qkv/api/study.h"
#include "qkv/threads.h"

namespace qkv {
namespace {

using api_detail::refuse;

constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;
constexpr std::int64_t kMostExtent = std::int64_t{1} << 20;

std::int64_t length_from(std::string_view text, const std::string& all) {
  const auto value = core::number_from<std::int64_t>(text);
  if (value && *value >= 1 && *value <= kMostTokens) return *value;
  refuse("tokens", fmt::format("T or FROM:TO, from 1 to {}", kMostTokens), "\"" + all + "\"");
}

// "256:4096", or one length.
void read_tokens(const std::string& text, VariantSetup& setup) {
  const std::size_t colon = text.find(':');
  setup.from = length_from(std::string_view(text).substr(0, colon), text);
  setup.to = colon == std::string::npos ? setup.from : length_from(std::string_view(text).substr(colon + 1), text);
  if (setup.from > setup.to) refuse("tokens", "FROM no larger than TO", "\"" + text + "\"");
}

void require_masks(const VariantSetup& setup) {
  for (const std::string& text : setup.masks) {
    const Mask mask = parse_mask(text);
    for (const std::int64_t T : setup.lengths()) mask.validate({.B = 1, .H = setup.heads, .Tq = T, .Tk = T});
  }
}

void add_inputs(Fields<VariantsBench>& fields) {
  using S = VariantSetup;
  Fields<S> of_setup;
  const auto extent = [&](std::int64_t S::* place, const char* name, const char* meaning) {
    of_setup.add(place, {.name = name, .form = "N", .meaning = meaning, .least = 1, .most = kMostExtent});
  };
  fields.add(&VariantsBench::tokens,
             {.name = "tokens", .form = "T|FROM:TO", .meaning = "Lengths: one, or from one by doubling to another"});
  of_setup.add(&S::heads, api_detail::shared_field("heads"));
  of_setup.give_bounds({{"heads", 1, kMostExtent}});
  extent(&S::head_dim, "head_dim", "Width of a head");
  of_setup.add(&S::causal, api_detail::shared_field("causal"));
  of_setup.add(&S::seed, {.name = "seed", .form = "N", .meaning = "Of the inputs and of the random blocks"});
  fields.add(&VariantsBench::setup, of_setup);
  fields.add(&VariantsBench::data, {.name = "data",
                                    .form = "KIND",
                                    .meaning = "random, or local: neighbouring tokens are alike",
                                    .words = {"random", "local"}});
}

void add_patterns(Fields<VariantsBench>& fields) {
  using S = VariantSetup;
  const std::string group = "The patterns";
  Fields<S> of_setup;
  const auto extent = [&](std::int64_t S::* place, const char* name, const char* meaning) {
    of_setup.add(place,
                 {.name = name, .form = "N", .meaning = meaning, .group = group, .least = 1, .most = kMostExtent});
  };
  extent(&S::window, "window", "Keys to either side, itself included");
  extent(&S::stride, "stride", "Keep every Nth key");
  extent(&S::block, "block", "Side of the block-sparse pattern's blocks");
  of_setup.add(&S::masks,
               {.name = "mask", .form = "EXPR", .meaning = "One more pattern, in the mask language", .group = group});
  fields.add(&VariantsBench::setup, of_setup);
}

void add_runs(Fields<VariantsBench>& fields) {
  constexpr std::int64_t kMostRepeats = 1000;
  Fields<VariantSetup> of_setup;
  of_setup.add(&VariantSetup::repeats, {.name = "repeats",
                                        .form = "N",
                                        .meaning = "Timed runs; fewer where they take more than 2 s",
                                        .least = 1,
                                        .most = kMostRepeats});
  of_setup.add(&VariantSetup::memory_limit, {.name = "memory_limit",
                                             .form = "SIZE",
                                             .meaning = "Bytes that a T x T matrix may take",
                                             .type = FieldType::size});
  fields.add(&VariantsBench::threads, threads_field());
  fields.add(&VariantsBench::setup, of_setup);
}

}  // namespace

const Fields<VariantsBench>& variants_bench_fields() {
  static const Fields<VariantsBench> kFields = [] {
    Fields<VariantsBench> fields;
    add_inputs(fields);
    add_patterns(fields);
    add_runs(fields);
    fields.give_examples({{"tokens", "256:512"}, {"mask", "window(64)"}});
    return fields;
  }();
  return kFields;
}

VariantSetup variant_setup(const VariantsBench& request) {
  VariantSetup setup = request.setup;
  read_tokens(request.tokens, setup);
  setup.data = request.data == "local" ? InputData::local : InputData::random;
  setup.threads = request.threads ? *request.threads : threads();
  require_masks(setup);
  return setup;
}

std::vector<Drawing> variants_drawings(const VariantSetup& setup, const std::vector<VariantCost>& costs) {
  std::vector<Drawing> all;
  for (const auto& [name, chart] : variants_charts(setup, costs)) {
    all.push_back(drawing(name, [chart = chart] { return chart; }));
  }
  return all;
}

VariantsFigures answer(const VariantsBench& request) {
  const VariantSetup setup = variant_setup(request);
  return variants_figures(setup, run_variants(setup));
}

}  // namespace qkv
