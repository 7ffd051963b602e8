#include <fmt/format.h>

#include <algorithm>

#include "api/replies/lines.h"
#include "core/counted.h"
#include "qkv/api/check_models.h"
#include "qkv/picture/terminal.h"

namespace qkv {
namespace {

std::string share_as_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

// "+5.4 %"
std::string change_as_text(double from, double to) { return fmt::format("{:+.2f} %", 100 * (to / from - 1)); }

std::string places_as_text(const CheckModelsFigures& figures, int width) {
  std::string text = "\nwhere they part\n";
  for (const ComparedPlace& place : figures.worst) {
    if (place.divergence == 0) continue;
    text +=
        api_detail::prose(fmt::format("{:.3g} nats behind token {}, \"{}\": A says \"{}\", B \"{}\", the text \"{}\"",
                                      place.divergence, place.place, one_line(place.before), one_line(place.a),
                                      one_line(place.b), one_line(place.expected)),
                          width, 2);
  }
  return text;
}

std::string layers_as_text(const CheckModelsFigures& figures, int width) {
  constexpr int kColumns = 44;  // in front of the bar
  std::string text = "\nresidual stream, |B - A| / |A| of a token\n";
  text += fmt::format("  {:>5}  {:>8}  {:>8}  {:<16}\n", "layer", "mean", "worst", "at token");
  double most = 0;
  for (const ComparedLayer& layer : figures.layers) most = std::max(most, layer.error);
  for (const ComparedLayer& layer : figures.layers) {
    const int room = std::clamp(width - kColumns - 2, 0, 40);
    const auto length = static_cast<std::size_t>(most > 0 ? layer.error / most * room : 0);
    const std::string at = layer.worst == 0 ? "" : fmt::format("{} {}", layer.place, one_line(layer.token));
    std::string line = fmt::format("  {:>5}  {:>8.3g}  {:>8.3g}  {:<16.16}  {}", layer.layer, layer.error, layer.worst,
                                   at, std::string(length, '#'));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (!figures.worst_layer.empty()) text += fmt::format("worst layer: {}\n", figures.worst_layer);
  return text;
}

}  // namespace

std::string check_models_as_text(const CheckModelsFigures& figures, int width) {
  const auto named = [&](const char* letter, const std::string& name, const std::string& weights) {
    return api_detail::prose(std::string(letter) + "  " + name + (weights.empty() ? "" : ": " + weights), width);
  };
  std::string text = named("A", figures.a, figures.weights_a) + named("B", figures.b, figures.weights_b);
  text += fmt::format("{}, {} of them predicted\n\n", core::counted(figures.tokens, "token"), figures.predicted);
  text += fmt::format("  {:<12} mean {:.4g} nats, worst {:.4g}\n", "KL(A || B)", figures.divergence,
                      figures.worst_divergence);
  text += fmt::format("  {:<12} the same at {} of the places\n", "top-1", share_as_text(figures.agreement));
  text += fmt::format("  {:<12} A {:.4g}, B {:.4g} ({})\n", "perplexity", figures.perplexity_a, figures.perplexity_b,
                      change_as_text(figures.perplexity_a, figures.perplexity_b));
  if (figures.worst_divergence > 0) text += places_as_text(figures, width);
  if (figures.layers.empty()) {
    return text +
           api_detail::prose("the two have other layers or widths: their residual streams are not compared", width);
  }
  return text + layers_as_text(figures, width);
}

}  // namespace qkv
