// What interventions do to what a model says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "qkv/api/field.h"
#include "qkv/api/given_texts.h"
#include "qkv/api/member.h"
#include "qkv/api/saying.h"
#include "qkv/api/texts.h"
#include "qkv/insight/change.h"

namespace qkv {

/// One text, or many, and what is changed. Kinds of changes count in the order of members, `changes` first.
struct ChangeRequest {
  std::string model, dtype;
  TextQuestion of;
  std::string picture, sound;            // in place of a text
  ChatRequest talk;                      // whose message the text is
  std::optional<std::int64_t> examples;  // held out, in place of one text
  FileOfTexts file;                      // a text on each line, likewise
  std::vector<std::string> texts;        // likewise
  std::vector<std::string> changes;      // of any kind: "remove 1.0"
  std::vector<std::string> patches, numbers, removed, cuts, patterns;
  bool freezes = false;
  std::optional<std::string> from_text;
  std::optional<std::int64_t> from_example;
  std::string sweep;       // "heads" or "places"; empty: none
  bool untouched = false;  // there may be no change
};

[[nodiscard]] const Fields<ChangeRequest>& change_fields();

[[nodiscard]] Panel sweep_panel(const Sweep& sweep, const ChangeRequest& request);

/// What a change did to one text, to many, or one change after the other to one.
struct ChangeFound {
  ChangeQuestion question;
  std::variant<TextChange, LossChange, Sweep> change;
};

/// Opens the model. Throws InvalidArgument naming the field for changes that have no meaning together, for none, and
/// for one that cannot be read; and as require_company() of the fields, change_text(), change_texts(), sweep_heads(),
/// sweep_places() and texts_of_lines(), naming the field.
[[nodiscard]] ChangeFound found_change(const ChangeRequest& request, const Saying& saying = {});

/// ChangeFigures of one text, ChangeOfTexts of many, or SweepFigures.
[[nodiscard]] AnyReply change_reply(const ChangeFound& found, const std::string& model);
[[nodiscard]] AnyReply answer(const ChangeRequest& request, const Saying& saying = {});

/// What was asked.
struct ChangeAsked {
  std::string model;
  std::vector<std::string> interventions;  // as they were read
  std::optional<std::string> from_text;
  std::optional<std::int64_t> from_example;
  std::vector<std::string> cautions;
};

struct BeforeAndAfter {
  double before = 0, after = 0;
};

struct ChangeScore {
  double logit = 0, probability = 0;
  std::int64_t rank = 0;
};

struct ChangedToken {
  std::int64_t token = 0;
  std::string piece;
  ChangeScore before, after;
};

/// Of one text: the answer of a model that says tokens, else the cosines.
struct ChangeFigures : ChangeAsked {
  std::vector<std::string> tokens, from_tokens;
  std::int64_t place = 0;
  std::optional<BeforeAndAfter> cosine;  // of two towers
  std::optional<std::vector<double>> state_cosines;
  std::optional<double> vector_cosine;
  std::optional<ChangedToken> answer;
  std::optional<bool> is_expected;
  std::optional<ChangedToken> against;
  std::optional<std::vector<ChangedToken>> moved, risen, fallen;
  std::optional<std::vector<double>> divergence;
  std::string sentence;
};

/// Likewise of many texts.
struct ChangeOfTexts : ChangeAsked {
  std::int64_t texts = 0;
  std::optional<BeforeAndAfter> cosine;
  std::optional<double> vector_cosine, state_cosine;
  std::optional<std::int64_t> asked, scored;
  std::optional<BeforeAndAfter> loss, accuracy;
  std::optional<std::int64_t> worse;
};

struct SweepFigure {
  std::string name;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> changes;
};

/// Likewise of a sweep.
struct SweepFigures : ChangeAsked {
  std::string measure;
  double before = 0;
  std::optional<double> other;
  std::vector<SweepFigure> maps;
};

/// `model` says whose.
[[nodiscard]] ChangeFigures change_figures(const TextChange& change, const ChangeQuestion& question,
                                           const std::string& model);
[[nodiscard]] ChangeOfTexts change_figures(const LossChange& change, const ChangeQuestion& question,
                                           const std::string& model);
[[nodiscard]] SweepFigures sweep_figures(const Sweep& sweep, const ChangeQuestion& question, const std::string& model);

[[nodiscard]] Members<ChangeAsked> describe(const ChangeAsked* asked);
[[nodiscard]] Members<BeforeAndAfter> describe(const BeforeAndAfter* both);
[[nodiscard]] Members<ChangeScore> describe(const ChangeScore* score);
[[nodiscard]] Members<ChangedToken> describe(const ChangedToken* token);
[[nodiscard]] Members<ChangeFigures> describe(const ChangeFigures* figures);
[[nodiscard]] Members<ChangeOfTexts> describe(const ChangeOfTexts* figures);
[[nodiscard]] Members<SweepFigure> describe(const SweepFigure* figure);
[[nodiscard]] Members<SweepFigures> describe(const SweepFigures* figures);

}  // namespace qkv
