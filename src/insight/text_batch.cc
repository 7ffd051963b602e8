#include "insight/text_batch.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace qkv::insight {
namespace {

constexpr std::int64_t kMostTexts = 32;
constexpr std::int64_t kMostWeights = std::int64_t{1} << 24;  // of a layer and batch

template <class RowOf>
Tensor rows_of(const std::vector<const HeadText*>& texts, const RowOf& row_of) {
  const auto width = static_cast<std::int64_t>(row_of(*texts.front()).size());
  Tensor all(DType::i64, {static_cast<std::int64_t>(texts.size()), width});
  auto to = all.values<std::int64_t>().begin();
  for (const HeadText* text : texts) to = std::ranges::copy(row_of(*text), to).out;
  return all;
}

Tensor stacked(const std::vector<const HeadText*>& texts, Tensor HeadText::* member) {
  const Tensor& first = texts.front()->*member;
  Tensor all(DType::f32, first.shape().inserted(0, static_cast<std::int64_t>(texts.size())));
  auto to = all.values<float>().begin();
  for (const HeadText* text : texts) to = std::ranges::copy((text->*member).values<float>(), to).out;
  return all;
}

TextBatch batch_of_texts(std::vector<const HeadText*> texts) {
  TextBatch batch;
  batch.texts = std::move(texts);
  batch.ids = rows_of(batch.texts, [](const HeadText& text) { return text.ids; });
  const HeadText& first = *batch.texts.front();
  if (!first.types.empty()) batch.types = rows_of(batch.texts, [](const HeadText& text) { return text.types; });
  if (!first.source.empty()) batch.source = rows_of(batch.texts, [](const HeadText& text) { return text.source; });
  if (!first.image.empty()) batch.images = stacked(batch.texts, &HeadText::image);
  if (!first.sound.empty()) batch.sounds = stacked(batch.texts, &HeadText::sound);
  batch.targets = rows_of(batch.texts, [](const HeadText& text) {
    return text.targets.empty() ? std::vector<std::int64_t>(text.ids.size(), -100) : text.targets;
  });
  for (const HeadText* text : batch.texts) {
    batch.asked.push_back(std::ranges::count_if(text->targets, [](std::int64_t target) { return target >= 0; }));
  }
  return batch;
}

}  // namespace

ModelInput TextBatch::input() const {
  return {.ids = ids,
          .types = types.empty() ? TensorView() : types.view(),
          .source = source.empty() ? TensorView() : source.view(),
          .images = images.empty() ? TensorView() : images.view(),
          .sounds = sounds.empty() ? TensorView() : sounds.view()};
}

std::int64_t TextBatch::all_asked() const { return std::accumulate(asked.begin(), asked.end(), std::int64_t{0}); }

std::vector<TextBatch> batches_of(std::span<const HeadText> texts, std::int64_t heads) {
  std::map<std::tuple<std::size_t, std::size_t, bool, bool>, std::vector<const HeadText*>> by_length;
  for (const HeadText& text : texts) {
    by_length[{text.ids.size(), text.source.size(), !text.types.empty(), text.image.empty()}].push_back(&text);
  }
  std::vector<TextBatch> batches;
  for (const auto& [sizes, members] : by_length) {
    const auto longest = static_cast<std::int64_t>(std::max(std::get<0>(sizes), std::get<1>(sizes)));
    const auto most = static_cast<std::ptrdiff_t>(
        std::clamp<std::int64_t>(kMostWeights / std::max<std::int64_t>(1, heads * longest * longest), 1, kMostTexts));
    for (auto begin = members.begin(); begin != members.end();) {
      const auto end = begin + std::min<std::ptrdiff_t>(most, members.end() - begin);
      batches.push_back(batch_of_texts({begin, end}));
      begin = end;
    }
  }
  return batches;
}

std::vector<OwnSite> sites_of(const Model& model) {
  std::vector<OwnSite> sites;
  for (const AttentionSite site : {AttentionSite::tokens, AttentionSite::source, AttentionSite::cross}) {
    const std::optional<SiteScope> scope = model.scope_of(site);
    if (!scope) continue;
    const auto is_same = [&](const OwnSite& other) { return other.scope.name(0) == scope->name(0); };
    if (std::ranges::none_of(sites, is_same)) sites.push_back({.site = site, .scope = *scope});
  }
  return sites;
}

bool runs_site(const Model& model, const HeadText& text, AttentionSite site) {
  if (!model.scope_of(site)) return false;
  if (!model.traits().is_pair) return true;
  return site == AttentionSite::tokens ? !text.ids.empty() : !text.image.empty();
}

std::vector<OwnSite> sites_run(const Model& model, const HeadText& text) {
  const std::vector<OwnSite> all = sites_of(model);
  std::vector<OwnSite> sites;
  for (const bool is_cross : {true, false}) {  // not by stable_partition: Clang warns of libstdc++ 12's
    for (const OwnSite& own : all) {
      const bool is_next = (own.site == AttentionSite::cross) == is_cross;
      if (is_next && runs_site(model, text, own.site)) sites.push_back(own);
    }
  }
  return sites;
}

AttentionSite own_site(const Model& model, AttentionSite site) {
  const std::optional<SiteScope> scope = model.scope_of(site);
  if (!scope) return site;
  const std::vector<OwnSite> sites = sites_of(model);
  return std::ranges::find_if(sites, [&](const OwnSite& own) { return own.scope.name(0) == scope->name(0); })->site;
}

void run_text(const Model& model, const HeadText& text, Trace& trace) {
  model.run(batches_of(std::span(&text, 1), 1).front().input(), trace);
}

}  // namespace qkv::insight
