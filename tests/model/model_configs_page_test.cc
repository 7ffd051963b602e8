// docs/model-configs.md against the code: what each family reads, refuses and leaves out.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "model/families/config_words.h"
#include "model/families/family.h"

namespace qkv::model_configs_page_test {
namespace {

using families::ConfigFile;
using Json = nlohmann::json;
// By what stands in the first column.
using Words = std::map<std::string, std::set<std::string>>;

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(QKV_SOURCE_DIR "/" + path).rdbuf();
  return text.str();
}

std::string quoted(const std::string& word) { return "`" + word + "`"; }

// "`clip`, `text_config`" of "text_config.hidden_size" or of "text_config_dict.hidden_size"; all rotary options are
// one.
std::string column_of(const std::string& family, const std::string& place) {
  const std::size_t end = place.rfind('.');
  if (end == std::string::npos) return quoted(family);
  const std::string object = place.substr(0, place.find('.'));
  if (object.starts_with("rope_")) return quoted(family) + ", rotary options";
  return quoted(family) + ", " + quoted(object.substr(0, object.find("_dict")));
}

std::string word_of(const std::string& place) { return place.substr(place.rfind('.') + 1); }

// The config, and with every kind of rotary options where the family turns.
std::vector<Json> variants_of(const Json& config) {
  std::vector<Json> all = {config};
  if (!config.contains("rope_parameters") && !config.contains("rope_theta")) return all;
  for (const char* type : {"linear", "dynamic", "llama3", "yarn"}) {
    Json changed = config;
    changed["rope_scaling"] = {{"rope_type", type},       {"factor", 2.0},
                               {"low_freq_factor", 1.0},  {"high_freq_factor", 4.0},
                               {"attention_factor", 1.0}, {"original_max_position_embeddings", 64},
                               {"mscale", 1.0},           {"mscale_all_dim", 1.0}};
    all.push_back(changed);
  }
  return all;
}

struct Table {
  Words read;
  Words refused;
};

Table table_of_the_code() {
  Table table;
  const Json published = Json::parse(content_of("tests/model/fixtures/published_configs.json"));
  for (const auto& [name, entry] : published.items()) {
    if (entry.contains("refused")) continue;
    const std::string family = entry.at("config").at("model_type");
    for (const Json& variant : variants_of(entry.at("config"))) {
      const ConfigFile config(variant, "config.json");
      static_cast<void>(families::family_of(config).network(config, Init::undrawn(), DType::f32));
      static_cast<void>(families::cautions_of(config, family));
      for (const auto& [place, value] : config.required()) {
        table.refused[column_of(family, place)].insert(quoted(word_of(place)) + " " + value);
      }
      for (const std::string& place : config.asked()) {
        const std::string word = word_of(place);
        if (word != "*" && !config.required().contains(place))
          table.read[column_of(family, place)].insert(quoted(word));
      }
    }
  }
  return table;
}

std::string row(const std::string& first, const std::set<std::string>& words) {
  std::string text = "| " + first + " |";
  for (const std::string& word : words) text += (text.ends_with('|') ? " " : ", ") + word;
  return text + " |";
}

void expect_rows(const std::string& page, const Words& words) {
  for (const auto& [first, all] : words) {
    const std::string line = row(first, all);
    EXPECT_TRUE(page.find(line + "\n") != std::string::npos) << line;
  }
}

TEST(ModelConfigsPage, SaysWhatEachFamilyReadsAndRefuses) {
  const std::string page = content_of("docs/model-configs.md");
  const Table table = table_of_the_code();
  expect_rows(page, table.read);
  expect_rows(page, table.refused);
}

TEST(ModelConfigsPage, SaysWhatChangesNothing) {
  const std::string page = content_of("docs/model-configs.md");
  for (const families::IgnoredWords& kind : families::ignored_words()) {
    std::set<std::string> words;
    for (const families::IgnoredWord& ignored : kind.words) {
      words.insert(quoted(std::string(ignored.word)) + (ignored.only.empty() ? "" : " " + std::string(ignored.only)));
    }
    const std::string family = kind.family.empty() ? "all" : quoted(std::string(kind.family));
    const std::string line = row(family + " | " + std::string(kind.why), words);
    EXPECT_TRUE(page.find(line + "\n") != std::string::npos) << line;
  }
}

}  // namespace
}  // namespace qkv::model_configs_page_test
