// From words to X: tokens, ids, embeddings, positions, and their sum.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explain/drawing.h"
#include "explain/formula.h"
#include "explain/numbers.h"
#include "explain/sections.h"

namespace qkv::explain_detail {
namespace {

using namespace math;

constexpr std::size_t kTokensShown = 64;

std::string both_lengths(const Scene& scene) {
  return scene.model->is_cross() ? fmt::format("Tq = {}, Tk = {}", scene.run->tq(), scene.run->tk())
                                 : fmt::format("T = {}", scene.run->tq());
}

std::string rows_by_model(const Side& side) { return fmt::format("[T, d_model] = {}", side.x.shape().to_string()); }

Table id_table(const Side& side, std::string title, std::string_view what) {
  Table table;
  table.title = std::move(title);
  table.columns = {"position", "token", std::string(what)};
  for (std::size_t i = 0; i < std::min(side.tokens.size(), kTokensShown); ++i) {
    Cell last = what == "id" ? whole(side.ids[i]) : whole(static_cast<std::int64_t>(side.tokens[i].size()));
    table.rows.push_back({whole(static_cast<std::int64_t>(i)), word(side.tokens[i]), std::move(last)});
  }
  if (side.tokens.size() > kTokensShown) table.title += fmt::format(" (the first {})", kTokensShown);
  return table;
}

template <class Maker>
void for_each_side(const Scene& scene, const Maker& make) {
  if (!scene.model->is_cross()) {
    make(scene.run->queries, "", "");
    return;
  }
  make(scene.run->queries, "-text", " of the text");
  make(scene.run->keys, "-context", " of the context");
}

Section tokens_step(const Scene& scene) {
  Section step;
  step.id = "tokens";
  step.title = "Tokens";
  step.text =
      "A model reads a sequence of units, not characters in a row. Here a unit is a word between white space; trained "
      "models use smaller pieces, so that no word is unknown.";
  step.formulas = {
      row({call("split", name("text")), op("="),
           parens(row({sub(name("w"), number("0")), op(","), name("…"), op(","), sub(name("w"), name("T-1"))}))})};
  step.shape = both_lengths(scene);
  for_each_side(scene, [&](const Side& side, std::string_view, std::string_view of) {
    step.tables.push_back(id_table(side, fmt::format("Tokens{}", of), "bytes"));
  });
  return step;
}

Section ids_step(const Scene& scene) {
  Section step;
  step.id = "ids";
  step.title = "Ids";
  const std::size_t count = scene.model->vocabulary().size();
  step.text = fmt::format(
      "Each word becomes a number: its place in the vocabulary, which here holds the {} in order of first appearance. "
      "A "
      "word that comes twice gets the same id twice.",
      count == 1 ? "one word of the text" : fmt::format("{} different words of the text", count));
  step.formulas = {row({sub(name("id"), name("t")), op("="), call("place", sub(name("w"), name("t")))})};
  step.shape = fmt::format("[T] = [{}], vocabulary {}", scene.run->tq(), count);
  for_each_side(scene, [&](const Side& side, std::string_view, std::string_view of) {
    step.tables.push_back(id_table(side, fmt::format("Ids{}", of), "id"));
  });
  return step;
}

Section embeddings_step(const Scene& scene) {
  Section step;
  step.id = "embeddings";
  step.title = "Embeddings";
  step.text = fmt::format(
      "An id picks its row of the embedding matrix E: {} numbers that say what the word is. Training would move words "
      "of "
      "like use close together; these rows are drawn from a normal distribution with seed {}.",
      scene.model->d_model(), scene.options->seed);
  step.formulas = {row({sub(name("e"), name("t")), op("="), name("E"), op("["), sub(name("id"), name("t")), op("]")})};
  step.shape = rows_by_model(scene.run->queries);
  // Without a word that repeats, E is the embeddings: the same matrix need not be shown twice.
  const bool is_table = !scene.model->is_cross() && scene.run->queries.tokens == scene.model->vocabulary();
  if (!is_table) {
    step.heatmaps.push_back(vectors("embedding-table", "E, one row a word", scene.model->parameters().embedding,
                                    scene.model->vocabulary()));
  }
  for_each_side(scene, [&](const Side& side, std::string_view suffix, std::string_view of) {
    const std::string title =
        is_table ? "E and the embeddings: no word repeats, so both are this" : fmt::format("Embeddings{}", of);
    step.heatmaps.push_back(vectors(fmt::format("embeddings{}", suffix), title, side.embedded, side.tokens));
  });
  return step;
}

std::vector<Formula> sinusoidal_formulas() {
  const Term exponent = row({number("2"), name("i"), op("/"), sub(name("d"), name("model"))});
  const Term angle = fraction(name("t"), sup(number("10000"), exponent));
  const auto line = [&](std::string_view function, const Term& column) {
    return row({sub(name("P"), row({name("t"), op(","), column})), op("="), call(function, angle)});
  };
  const Term even = row({number("2"), name("i")});
  return {line("sin", even), line("cos", row({even, op("+"), number("1")}))};
}

Section positions_step(const Scene& scene) {
  Section step;
  step.id = "positions";
  step.title = "Positions";
  step.shape = rows_by_model(scene.run->queries);
  if (scene.options->position == Positions::sinusoidal) {
    step.text =
        "Attention alone cannot tell first from last: it sums over a set. Each position therefore gets its own pattern "
        "of sines and cosines, fast ones on the left, slow ones on the right (Vaswani et al. 2017, section 3.5).";
    step.formulas = sinusoidal_formulas();
  } else {
    step.text = fmt::format(
        "Attention alone cannot tell first from last: it sums over a set. Each position therefore has a vector of its "
        "own, "
        "learned like a word's; untrained, it is drawn with seed {}.",
        scene.options->seed + 1);
    step.formulas = {row({sub(name("p"), name("t")), op("="), name("P"), op("["), name("t"), op("]")})};
  }
  for_each_side(scene, [&](const Side& side, std::string_view suffix, std::string_view of) {
    step.heatmaps.push_back(
        vectors(fmt::format("positions{}", suffix), fmt::format("Positions{}", of), side.encoding, side.tokens));
  });
  return step;
}

std::string where_position_goes(Positions position) {
  switch (position) {
    case Positions::sinusoidal:
    case Positions::learned:
      return "What a word is and where it stands are added into one vector; every later step sees only this.";
    case Positions::rotary:
      return "With rotary positions nothing is added here: queries and keys will be turned by their position instead.";
    case Positions::alibi:
    case Positions::t5:
      return "Nothing is added here: the position will enter as a bias on the scores.";
    case Positions::none:
      break;
  }
  return "No positions were asked for, so X is the embeddings: from here on the order of the words is unknown.";
}

Section x_step(const Scene& scene) {
  Section step;
  step.id = "x";
  step.title = "X, what attention reads";
  step.text = where_position_goes(scene.options->position);
  const Term embedded = name("E[ids]");
  step.formulas = {scene.run->queries.encoding.empty() ? row({name("X"), op("="), embedded})
                                                       : row({name("X"), op("="), embedded, op("+"), name("P")})};
  step.shape = rows_by_model(scene.run->queries);
  for_each_side(scene, [&](const Side& side, std::string_view suffix, std::string_view of) {
    step.heatmaps.push_back(vectors(fmt::format("x{}", suffix), fmt::format("X{}", of), side.x, side.tokens));
  });
  return step;
}

}  // namespace

std::vector<Section> input_steps(const Scene& scene) {
  std::vector<Section> steps = {tokens_step(scene), ids_step(scene), embeddings_step(scene)};
  if (!scene.run->queries.encoding.empty()) steps.push_back(positions_step(scene));
  steps.push_back(x_step(scene));
  return steps;
}

}  // namespace qkv::explain_detail
