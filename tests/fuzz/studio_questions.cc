#include "fuzz/studio_questions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>
#include <variant>
#include <vector>

#include "qkv/api/questions.h"
#include "qkv/mask.h"

namespace qkv::fuzz {
namespace {

using Json = nlohmann::json;

// What the standard library's distributions draw is not the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] std::uint64_t bits() { return engine_(); }
  [[nodiscard]] std::int64_t up_to(std::int64_t most) {
    return static_cast<std::int64_t>(engine_() % (static_cast<std::uint64_t>(most) + 1));
  }
  [[nodiscard]] bool once_in(std::int64_t count) { return up_to(count - 1) == 0; }
  template <class Items>
  [[nodiscard]] const auto& one_of(const Items& items) {
    return items[static_cast<std::size_t>(up_to(std::ssize(items) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

// Not among these are fields that write where the test runs: `train` learns in the working directory. What commands
// measure takes long.
const std::vector<Question>& asked() {
  static const std::vector<Question> kAsked = [] {
    std::vector<Question> all;
    for (const Question& question : questions()) {
      const bool is_long = question.name == "train" || question.command.starts_with("bench ");
      if (!is_long) all.push_back(question);
    }
    return all;
  }();
  return kAsked;
}

// A field's own example, as JSON.
Json example_of(const FieldInfo& field) {
  return std::visit([](const auto& value) { return Json(value); }, field_value(field, field.example));
}

// Of each field, its example and the values that it has in one of any question.
const std::map<std::string, std::vector<Json>>& examples_of_fields() {
  static const std::map<std::string, std::vector<Json>> kValues = [] {
    std::map<std::string, std::vector<Json>> values;
    for (const Question& question : questions()) {
      for (const FieldInfo& field : question.fields) values[field.name].push_back(example_of(field));
      for (const std::string& example : question.examples) {
        const Json fields = Json::parse(example);
        for (const auto& [name, value] : fields.items()) values[name].push_back(value);
      }
    }
    return values;
  }();
  return kValues;
}

// "the words", "after" and "1.0=uniform" of a phrase that says what a field takes.
std::vector<std::string> words_of(const FieldInfo& field) {
  std::vector<std::string> words;
  std::string word;
  for (const char letter : field.meaning + ",") {
    if (letter != ',' && letter != ';' && letter != '[' && letter != ']' && letter != ' ') {
      word += letter;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

std::string number_text(Dice& dice) {
  constexpr std::array<const char*, 6> kOdd = {"0.5", "-1", "1e300", "nan", "inf", "1e-300"};
  return dice.once_in(8) ? dice.one_of(kOdd) : std::to_string(dice.up_to(4));
}

// "1,0;0,1;1,1", or "[[1,0],[0,1]]".
std::string matrix_text(Dice& dice, bool in_brackets) {
  const std::int64_t rows = 1 + dice.up_to(3);
  const std::int64_t columns = 1 + dice.up_to(2);
  std::string text;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (row > 0) text += in_brackets ? "],[" : ";";
    for (std::int64_t column = 0; column < columns; ++column) text += (column == 0 ? "" : ",") + number_text(dice);
  }
  return in_brackets ? "[[" + text + "]]" : text;
}

// "I0:I1,J0:J1" with a number for each name, "NAME:STEP" likewise: what is said of the form, and what is near it.
std::string shaped_text(Dice& dice, const std::string& form) {
  constexpr std::array<const char*, 8> kNames = {"q", "k", "v", "x", "weights", "out", "raw", "dS"};
  std::string text;
  for (std::size_t at = 0; at < form.size();) {
    if (std::isalpha(static_cast<unsigned char>(form[at])) == 0) {
      text += form[at++];
      continue;
    }
    const std::size_t begin = at;
    while (at < form.size() && std::isalnum(static_cast<unsigned char>(form[at])) != 0) ++at;
    const std::string_view name = std::string_view(form).substr(begin, at - begin);
    if (name == "NAME") {
      text +=
          std::string(dice.one_of(kNames)) + ":" + std::to_string(dice.up_to(3)) + "," + std::to_string(dice.up_to(3));
    } else {
      text += number_text(dice);
    }
  }
  return text;
}

std::string few_words(Dice& dice) {
  constexpr std::array<const char*, 12> kWords = {"abc", "the",  "cat",  "3", "a",   "xyzab",
                                                  "é",   "日本", "(())", ">", "was", "7+8="};
  std::string text;
  for (std::int64_t n = dice.up_to(6); n >= 0; --n)
    text += dice.one_of(kWords) + std::string(dice.up_to(1) == 0 ? " " : "");
  return text;
}

std::string mask_text(Dice& dice) {
  const auto words = mask_words();
  std::string text = mask_sample(dice.one_of(words).word, {1, 2, 4, 4});
  if (dice.once_in(3)) text = (dice.once_in(2) ? "!(" : "(") + text + ") " + (dice.once_in(2) ? "&" : "|") + " causal";
  return text;
}

std::string damaged(Dice& dice, std::string text) {
  const auto place = static_cast<std::size_t>(dice.up_to(std::ssize(text)));
  switch (dice.up_to(3)) {
    case 0:
      return text.substr(0, place);
    case 1:
      return text.insert(place, 1, '\0');
    case 2:
      return text.insert(place, "\xF0\x9F\x98\x80");
    default:
      return text + text + text;
  }
}

std::string text_of(Dice& dice, const FieldInfo& field) {
  constexpr std::array<const char*, 8> kModels = {"induction", "copy",    "previous", "brackets",
                                                  "addition",  "reverse", "shapes",   "nonesuch"};
  constexpr std::array<const char*, 5> kFiles = {"/dev/null", "/dev/zero", "/", "none.npy", "none.npz:q"};
  if (!field.words.empty() && !dice.once_in(16)) return dice.one_of(field.words);
  if (dice.once_in(6)) return dice.one_of(words_of(field));
  if (field.name == "model") return dice.one_of(kModels);
  if (field.form == "EXPR") return mask_text(dice);
  if (field.form == "MATRIX") return matrix_text(dice, false);
  if (field.form == "TENSOR") return dice.once_in(8) ? std::string(dice.one_of(kFiles)) : matrix_text(dice, true);
  if (field.form == "FILE" || field.form == "DIR") return dice.one_of(kFiles);
  if (field.form.find_first_of(":,") != std::string::npos) return shaped_text(dice, field.form);
  return few_words(dice);
}

std::int64_t whole_of(Dice& dice, const FieldInfo& field) {
  const auto least = static_cast<std::int64_t>(field.least.at);
  const auto most = static_cast<std::int64_t>(field.most.at);
  switch (dice.up_to(9)) {
    case 0:
      return least;
    case 1:
      return most;
    case 2:
      return most + 1;
    case 3:
      return least - 1;
    default:
      return least + dice.up_to(std::min<std::int64_t>(8, most - least));
  }
}

double factor_of(Dice& dice, const FieldInfo& field) {
  constexpr std::array<double, 6> kOdd = {0, 1, -1, 0.5, 1e300, 1e-300};
  if (dice.once_in(4)) return dice.once_in(2) ? field.least.at : field.most.at;
  return dice.one_of(kOdd);
}

Json value_of(Dice& dice, const FieldInfo& field) {
  const auto known = examples_of_fields().find(field.name);
  if (known != examples_of_fields().end() && dice.once_in(3)) return dice.one_of(known->second);
  if (dice.once_in(40)) return Json::array({1});  // of no type that there is
  switch (field.type) {
    case FieldType::flag:
    case FieldType::toggle:
      return dice.once_in(2);
    case FieldType::seed:
    case FieldType::size:
      return dice.bits();
    case FieldType::wholes:
      return Json::array({whole_of(dice, field), whole_of(dice, field)});
    case FieldType::texts:
      return Json::array({text_of(dice, field)});
    case FieldType::whole:
      return whole_of(dice, field);
    case FieldType::number:
      return factor_of(dice, field);
    case FieldType::text: {
      std::string text = text_of(dice, field);
      return dice.once_in(20) ? damaged(dice, std::move(text)) : text;
    }
  }
  return nullptr;
}

}  // namespace

StudioQuestion studio_question(std::uint64_t n) {
  Dice dice(n);
  const Question& question = dice.one_of(asked());
  Json request = Json::object();
  if (!question.examples.empty() && !dice.once_in(3)) request = Json::parse(dice.one_of(question.examples));
  const std::int64_t sparse = 2 + dice.up_to(10);
  for (const FieldInfo& field : question.fields) {
    if (dice.once_in(sparse)) request[field.name] = value_of(dice, field);
    if (dice.once_in(12)) request.erase(field.name);
  }
  std::string text = request.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (dice.once_in(200)) text = damaged(dice, text);
  return {.name = question.name, .request = std::move(text)};
}

}  // namespace qkv::fuzz
