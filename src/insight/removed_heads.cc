#include "insight/removed_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "insight/text_batch.h"
#include "nn/resumed.h"
#include "qkv/autograd/arithmetic.h"
#include "qkv/model/sound_encoder.h"

namespace qkv::insight {
namespace {

constexpr std::int64_t kTokensOfAPass = 256;

// All of it, `times` over.
Tensor repeated(const TensorView& batch, std::int64_t times) {
  if (batch.rank() == 0 || batch.size() == 0) return {};
  const Tensor dense(batch);
  Shape shape = batch.shape();
  shape[0] *= times;
  Tensor all(batch.dtype(), shape);
  const auto bytes = static_cast<std::size_t>(dense.size()) * size_of(dense.dtype());
  auto* place = static_cast<std::byte*>(all.data());
  for (std::int64_t n = 0; n < times; ++n, place += bytes) std::memcpy(place, dense.data(), bytes);
  return all;
}

std::vector<std::int64_t> repeated(const std::vector<std::int64_t>& lengths, std::int64_t times) {
  std::vector<std::int64_t> all;
  for (std::int64_t n = 0; n < times; ++n) all.insert(all.end(), lengths.begin(), lengths.end());
  return all;
}

std::int64_t texts_of(const ModelInput& input) {
  const auto texts = [](const TensorView& view) { return view.rank() > 1 ? view.dim(0) : 0; };
  return std::max({texts(input.ids), texts(input.source), texts(input.images), texts(input.sounds)});
}

// Whether nothing that this stack reads comes from the other one.
bool is_apart(const Model& model, const OwnSite& own, const SiteScope& other) {
  return own.scope.stack != other.stack && (model.traits().is_pair || own.site == AttentionSite::source);
}

// The stack of the removed heads goes on at their layer, and one that does not read it is not run again.
std::vector<nn::Resumption> resumptions(const Model& model, const Trace& whole, const RemovedLayer& removed,
                                        std::int64_t times) {
  std::vector<nn::Resumption> all;
  const auto add = [&](const std::string& stack, std::int64_t first) {
    const std::string name = fmt::format("{}blocks.{}", stack, first - 1);
    if (first == 0 || !whole.contains(name)) return;  // one of two towers may stand alone
    all.push_back({.stack = stack, .first = first, .state = Variable(repeated(whole[name].view(), times))});
  };
  add(removed.scope.stack, static_cast<std::int64_t>(removed.layer));
  for (const OwnSite& own : sites_of(model)) {
    if (is_apart(model, own, removed.scope)) add(own.scope.stack, own.scope.layers);
  }
  return all;
}

}  // namespace

std::int64_t tokens_of(const ModelInput& input) {
  const auto tokens = [](const TensorView& view) { return view.rank() > 1 ? view.dim(0) * view.dim(1) : 0; };
  // Patches of images mostly have sides of 14 or 16 pixels.
  constexpr std::int64_t kPatch = 16;
  const TensorView &sounds = input.sounds, &images = input.images;
  const std::int64_t places = sounds.rank() == 3 ? sounds.dim(0) * sounds.dim(2) / kFramesOfAPlace : 0;
  const std::int64_t patches = images.rank() == 4 ? images.dim(0) * images.dim(2) * images.dim(3) / kPatch / kPatch : 0;
  return std::max({tokens(input.ids), tokens(input.source), places, patches, std::int64_t{1}});
}

Variable without_heads(const Variable& heads, std::int64_t first, std::int64_t times) {
  const std::int64_t rows = heads.dim(0), count = heads.dim(1);
  std::vector<double> keep(static_cast<std::size_t>(rows * count), 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    keep[static_cast<std::size_t>(row * count + first + row / (rows / times))] = 0;
  }
  return heads * Variable(Tensor(Tensor(keep, {rows, count, 1, 1}), heads.dtype()));
}

std::vector<Tensor> values_in(const Trace& trace, std::span<const std::string> names) {
  std::vector<Tensor> values;
  for (const std::string& name : names) values.push_back(trace[name]);
  return values;
}

std::vector<std::string> names_of_streams(const Model& model) {
  std::vector<std::string> names;
  for (const OwnSite& own : sites_of(model)) {
    for (std::int64_t n = 0; n < own.scope.layers; ++n) {
      names.push_back(fmt::format("{}blocks.{}", own.scope.stack, n));
    }
  }
  return names;
}

void without_each_head(const Model& model, const ModelInput& input, const Trace& whole, const RemovedLayer& removed,
                       const std::vector<std::string>& kept, const WithoutHead& told) {
  const std::int64_t most = std::max<std::int64_t>(1, kTokensOfAPass / tokens_of(input));
  for (std::int64_t first = 0; first < removed.heads; first += most) {
    const std::int64_t times = std::min(most, removed.heads - first);
    const Tensor ids = repeated(input.ids, times), types = repeated(input.types, times);
    const Tensor source = repeated(input.source, times), images = repeated(input.images, times),
                 sounds = repeated(input.sounds, times);
    Trace trace(kept);
    trace.edit(removed.scope.name(removed.layer, "heads"),
               [&](const Variable& value) { return without_heads(value, first, times); });
    const nn::Resumed resumed(resumptions(model, whole, removed, times));
    model.run({.ids = ids.view(),
               .lengths = repeated(input.lengths, times),
               .types = types.view(),
               .source = source.view(),
               .source_lengths = repeated(input.source_lengths, times),
               .images = images.view(),
               .sounds = sounds.view()},
              trace);
    const std::vector<Tensor> values = values_in(trace, kept);  // once for all heads: they may be large
    for (std::int64_t n = 0; n < times; ++n) told(first + n, values, n * texts_of(input));
  }
}

}  // namespace qkv::insight
