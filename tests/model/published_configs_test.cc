// Configs of published models, whole: each opens into the options that `transformers` makes of it, and every word of it
// is read, known to change nothing, or named.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/error_message.h"
#include "core/number_text.h"
#include "model/families/config_words.h"
#include "model/families/family.h"
#include "model/published_fixture.h"

namespace qkv::published_configs_test {
namespace {

using families::ConfigFile;
using Json = nlohmann::json;

const Json& published() {
  static const Json kAll = tests::published_fixture("published_configs.json");
  return kAll;
}

// The words of qkv's config that a family may leave at their usual values.
ModelConfig config_words(const Model& model) {
  ModelConfig words = model.config();
  if (words.contains("rotary_scaling")) {
    const std::string scaling = words["rotary_scaling"];
    const std::size_t end = scaling.find(' ');
    words["scaling"] = scaling.substr(0, end);
    words["factor"] = scaling.substr(end + 1, scaling.find(' ', end + 1) - end - 1);
  }
  words.try_emplace("scaling", "default");
  words.try_emplace("factor", "0");
  words.try_emplace("rotary_base", "10000");
  words.try_emplace("epsilon", "1e-05");
  words.try_emplace("kv_heads", words["heads"]);
  words.try_emplace("activation", "gelu");
  words.try_emplace("windows", "");
  return words;
}

std::string text_of(const Json& value) {
  if (!value.is_array()) return value.is_string() ? value.get<std::string>() : value.dump();
  std::string text;
  for (const Json& one : value) text += (text.empty() ? "" : " ") + one.dump();
  return text;
}

void expect_word(const std::string& found, const Json& wanted, const std::string& word) {
  if (wanted.is_number()) {
    EXPECT_EQ(core::number_from<double>(found), wanted.get<double>()) << word;
  } else {
    EXPECT_EQ(found, text_of(wanted)) << word;
  }
}

class PublishedConfig : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const Json& entry() const { return published().at(GetParam()); }
  [[nodiscard]] ConfigFile config() const { return {entry().at("config"), "config.json"}; }
};

Model opened(const ConfigFile& config) {
  return Model(families::family_of(config).network(config, Init::undrawn(), DType::f32));
}

TEST_P(PublishedConfig, OpensIntoTheOptionsOfItsAuthors) {
  if (entry().contains("refused")) {
    EXPECT_THAT(error_message<Error>([&] { static_cast<void>(opened(config())); }),
                testing::HasSubstr("config.json: " + entry().at("refused").get<std::string>() + ": expected"));
    return;
  }
  const Model model = opened(config());
  EXPECT_EQ(model.parameter_count(), entry().at("parameters").get<std::int64_t>());
  ModelConfig words = config_words(model);
  for (const auto& [word, wanted] : entry().at("options").items()) expect_word(words[word], wanted, word);
  if (!entry().at("options").contains("windows")) {
    EXPECT_EQ(words["windows"], "");
  }
}

TEST_P(PublishedConfig, HasNoWordThatIsLeftOutInSilence) {
  if (entry().contains("refused")) return;
  const ConfigFile config = this->config();
  static_cast<void>(opened(config));
  EXPECT_THAT(families::cautions_of(config, families::family_of(config).type), testing::IsEmpty());
}

TEST_P(PublishedConfig, NamesAWordThatItDoesNotKnow) {
  if (entry().contains("refused")) return;
  Json changed = entry().at("config");
  changed["attention_foo"] = 3;
  changed["hidden_bar"] = nullptr;
  const bool has_towers = changed.contains("text_config") && changed.value("text_config_dict", Json()).is_null();
  if (has_towers) changed["text_config"]["attention_foo"] = {{"a", 1}};
  const ConfigFile config(changed, "config.json");
  static_cast<void>(opened(config));
  const auto cautions = families::cautions_of(config, families::family_of(config).type);
  ASSERT_EQ(cautions.size(), 1U);
  EXPECT_THAT(cautions.front(), testing::HasSubstr("attention_foo"));
  EXPECT_THAT(cautions.front(), testing::Not(testing::HasSubstr("hidden_bar")));
  EXPECT_EQ(cautions.front().find("text_config.attention_foo") != std::string::npos, has_towers);
}

// Words of numbers that opening looks at: of others no value changes anything. A network of many layers takes long.
std::vector<std::string> numbers_asked(const ConfigFile& config) {
  static_cast<void>(opened(config));
  const std::vector<std::string> asked = config.asked();
  std::vector<std::string> numbers;
  for (const auto& [word, value] : config.json().items()) {
    if (value.is_number() && std::ranges::find(asked, word) != asked.end()) numbers.push_back(word);
  }
  return numbers;
}

// What opening says; empty if it opens.
std::string said_of(const Json& json) {
  try {
    static_cast<void>(opened({json, "config.json"}).parameter_count());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_P(PublishedConfig, RefusesWhatIsNoNumberByName) {
  if (entry().contains("refused")) return;
  for (const std::string& word : numbers_asked(config())) {
    Json changed = entry().at("config");
    for (const char* nonsense : {"\"7\"", "true", "[[1]]", "{\"a\": 1}"}) {
      changed[word] = Json::parse(nonsense);
      const std::string said = said_of(changed);
      if (!said.empty()) {
        EXPECT_THAT(said, testing::StartsWith("config.json: " + word + ": expected ")) << nonsense;
      }
    }
  }
}

// Every size, so large that products of three are beyond 2^63, and none: an error before memory is taken, or a model
// whose parameters are counted.
TEST_P(PublishedConfig, TakesNoMemoryForNonsense) {
  if (entry().contains("refused")) return;
  for (const std::string& word : numbers_asked(config())) {
    if (!entry().at("config").at(word).is_number_integer()) continue;
    for (const std::int64_t size : {std::int64_t{0}, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 31,
                                    std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
      Json changed = entry().at("config");
      changed[word] = size;
      const std::string said = said_of(changed);
      if (size > std::int64_t{1} << 31 && !said.empty()) {
        EXPECT_THAT(said, testing::HasSubstr(word + ": expected ")) << size;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublishedConfig, testing::ValuesIn(tests::names_of(published())),
                         [](const auto& one) { return tests::test_name(one.param); });

}  // namespace
}  // namespace qkv::published_configs_test
