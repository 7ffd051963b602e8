// The logit lens and the parts of a logit as tables and pictures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/listed.h"
#include "insight/report_text.h"
#include "qkv/insight/lens.h"

namespace qkv {
namespace {

using insight::left_in;

constexpr int kCell = 11;  // columns of a token in the lens
constexpr int kLayerColumn = 7;
constexpr std::size_t kParts = 12;  // that are listed
constexpr std::size_t kKeys = 2;    // of a head

// One part of a logit, with the keys of a head.
struct NamedPart {
  std::string name;
  double adds = 0;
  std::vector<double> keys = {};
  bool is_cross = false;
};

void add_heads(std::size_t layer, const std::vector<double>& heads, const Tensor& keys, bool is_cross,
               std::vector<NamedPart>& all) {
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const TensorView of_head =
        keys.view().select(0, static_cast<std::int64_t>(layer)).select(0, static_cast<std::int64_t>(h));
    all.push_back(
        {fmt::format("head {}{}.{}", is_cross ? "cross:" : "", layer, h), heads[h], of_head.to_vector(), is_cross});
  }
}

std::vector<NamedPart> named_parts(const LogitParts& parts) {
  std::vector<NamedPart> all = {{"input", parts.embedding}};
  for (std::size_t n = 0; n < parts.layers.size(); ++n) {
    const LayerParts& layer = parts.layers[n];
    add_heads(n, layer.heads, parts.keys, false, all);
    if (!layer.cross.empty()) add_heads(n, layer.cross, parts.cross_keys, true, all);
    all.push_back({fmt::format("feed-forward {}", n), layer.feed_forward});
    if (layer.bias != 0) all.push_back({fmt::format("biases of heads {}", n), layer.bias});
  }
  all.push_back({"last biases", parts.constant});
  return all;
}

std::string keys_text(const NamedPart& part, const LensReport& report) {
  std::vector<std::size_t> order(part.keys.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](std::size_t key) { return std::abs(part.keys[key]); };
  std::ranges::sort(order,
                    [&](std::size_t a, std::size_t b) { return size(a) != size(b) ? size(a) > size(b) : a < b; });
  const std::vector<std::string>& names = part.is_cross ? report.cross_keys : report.keys;
  return core::joined(std::span(order).first(std::min(kKeys, order.size())), [&](std::size_t key) {
    return fmt::format("{:+.3f} from {} {}", part.keys[key], key, names[key]);
  });
}

std::string sum_name(const LensReport& report) {
  const std::string logit = fmt::format("logit of “{}”", report.lens.answer);
  return report.against ? fmt::format("{} less that of “{}”", logit, *report.against) : logit;
}

std::string parts_table(const LensReport& report) {
  const LogitParts& parts = *report.parts;
  std::vector<NamedPart> all = named_parts(parts);
  std::ranges::sort(all, [](const NamedPart& a, const NamedPart& b) {
    return std::abs(a.adds) != std::abs(b.adds) ? std::abs(a.adds) > std::abs(b.adds) : a.name < b.name;
  });
  std::string text =
      fmt::format("\nWhat adds up to the {}\n\n{:<19} {:>8}  most of it\n", sum_name(report), "part", "adds");
  double rest = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (n >= kParts) {
      rest += all[n].adds;
      continue;
    }
    text += fmt::format("{:<19} {:>+8.3f}  {}\n", all[n].name, all[n].adds, keys_text(all[n], report));
  }
  if (all.size() > kParts) {
    text += fmt::format("{:<19} {:>+8.3f}\n", fmt::format("{} others", all.size() - kParts), rest);
  }
  return text + fmt::format("{:<19} {:>+8.3f}  the model computed {:.3f}\n", "sum", parts.sum(), parts.logit);
}

// As many places as fit, the last of them the one that is looked at, or later ones where there is room.
std::pair<std::int64_t, std::int64_t> shown_places(const LogitLens& lens, int width) {
  const auto T = std::ssize(lens.tokens);
  const auto room = std::max<std::int64_t>(1, (width - kLayerColumn) / (kCell + 1));
  const std::int64_t end = std::min<std::int64_t>(T, std::max(room, lens.place + 1));
  return {std::max<std::int64_t>(0, end - room), end};
}

std::string cells_table(const LogitLens& lens, int width) {
  const auto [begin, end] = shown_places(lens, width);
  const auto T = std::ssize(lens.tokens);
  std::string text = "what each layer would say after each token\n";
  if (end - begin < T) text += fmt::format("places {} to {} of 0 to {}\n", begin, end - 1, T - 1);
  text += "\n" + left_in("layer", kLayerColumn);
  for (std::int64_t t = begin; t < end; ++t) text += left_in(lens.tokens[static_cast<std::size_t>(t)], kCell) + " ";
  text += '\n';
  for (std::size_t n = 0; n < lens.layers.size(); ++n) {
    text += left_in(lens.layers[n], kLayerColumn);
    for (std::int64_t t = begin; t < end; ++t) {
      const LensCell& cell = lens.said[n][static_cast<std::size_t>(t)];
      text += left_in(cell.shown, kCell - 5) + fmt::format(" {:.2f} ", cell.probability);
    }
    text += '\n';
  }
  return text;
}

std::string answer_by_layer(const LogitLens& lens) {
  std::string text = fmt::format("\nThe answer after {} “{}”: “{}”{}\n\n{:<7} {:>11} {:>9} {:>6}\n", lens.place,
                                 lens.tokens[static_cast<std::size_t>(lens.place)], lens.answer,
                                 lens.is_expected ? ", as expected" : "", "layer", "probability", "logit", "rank");
  for (std::size_t n = 0; n < lens.layers.size(); ++n) {
    const TokenScore& score = lens.scores[n];
    text += fmt::format("{:<7} {:>11.4f} {:>9.3f} {:>6}\n", lens.layers[n], score.probability, score.logit, score.rank);
  }
  return text;
}

Heatmap lens_map(const LogitLens& lens, std::string title, Tensor values) {
  Heatmap map;
  map.title = std::move(title);
  map.values = std::move(values);
  map.row_labels = lens.layers;
  map.column_labels = lens.tokens;
  map.row_axis = "layer";
  map.column_axis = "place";
  map.value_name = "probability";
  map.low = 0;
  map.high = 1;
  return map;
}

Heatmap heads_map(const std::vector<LayerParts>& layers, std::vector<double> LayerParts::* heads, std::string title) {
  std::vector<double> values;
  for (const LayerParts& layer : layers) values.insert(values.end(), (layer.*heads).begin(), (layer.*heads).end());
  const std::size_t columns = values.size() / layers.size();
  Heatmap map;
  map.title = std::move(title);
  map.values = Tensor(values, {std::ssize(layers), static_cast<std::int64_t>(columns)});
  map.row_labels = insight::numbers_to(std::ssize(layers));
  map.column_labels = insight::numbers_to(columns);
  map.row_axis = "layer";
  map.column_axis = "head";
  map.value_name = "adds";
  map.colours = ColourMap::diverging;
  return map;
}

// Of each layer, over its heads: what is read from each key.
Heatmap keys_map(const Tensor& keys, const std::vector<std::string>& names, std::string title) {
  Tensor sums(DType::f64, {keys.dim(0), keys.dim(2)});
  for (std::int64_t n = 0; n < keys.dim(0); ++n) {
    for (std::int64_t h = 0; h < keys.dim(1); ++h) {
      for (std::int64_t j = 0; j < keys.dim(2); ++j) sums.set({n, j}, sums.at({n, j}) + keys.at({n, h, j}));
    }
  }
  Heatmap map;
  map.title = std::move(title);
  map.values = std::move(sums);
  map.row_labels = insight::numbers_to(keys.dim(0));
  map.column_labels = names;
  map.row_axis = "layer";
  map.column_axis = "key";
  map.value_name = "adds";
  map.colours = ColourMap::diverging;
  return map;
}

}  // namespace

std::string lens_table(const LensReport& report, const std::string& model, int width) {
  std::string text = model + ": " + cells_table(report.lens, width) + answer_by_layer(report.lens);
  text += report.parts ? parts_table(report)
                       : "\nNo parts of the logit: its residual stream is no sum up to the output map.\n";
  return insight::without_trailing_spaces(text);
}

Panel lens_panel(const LensReport& report, const std::string& model) {
  const LogitLens& lens = report.lens;
  Panel panel{.title = fmt::format("{}: after each layer", model), .heatmaps = {}};
  Tensor likeliest(DType::f64, lens.probabilities.shape());
  for (std::int64_t n = 0; n < likeliest.dim(0); ++n) {
    for (std::int64_t t = 0; t < likeliest.dim(1); ++t) {
      likeliest.set({n, t}, lens.said[static_cast<std::size_t>(n)][static_cast<std::size_t>(t)].probability);
    }
  }
  panel.heatmaps.push_back(lens_map(lens, fmt::format("probability of “{}”", lens.answer), lens.probabilities));
  panel.heatmaps.push_back(lens_map(lens, "probability of the likeliest token", std::move(likeliest)));
  if (!report.parts) return panel;
  const LogitParts& parts = *report.parts;
  const std::string what = sum_name(report);
  panel.heatmaps.push_back(
      heads_map(parts.layers, &LayerParts::heads, fmt::format("what each head adds to the {}", what)));
  panel.heatmaps.push_back(keys_map(parts.keys, report.keys, "what the heads of a layer read"));
  if (!parts.cross_keys.empty()) {
    panel.heatmaps.push_back(
        heads_map(parts.layers, &LayerParts::cross, fmt::format("what each head adds to the {}, across", what)));
    panel.heatmaps.push_back(keys_map(parts.cross_keys, report.cross_keys, "what the heads of a layer read, across"));
  }
  return panel;
}

}  // namespace qkv
