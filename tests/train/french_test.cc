// The French of the task "translation", held against a dictionary and rules of agreement, order and elision that are
// written here: genders and endings, not the generator's lexicon.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "qkv/train/task.h"

namespace qkv::french_test {
namespace {

using Words = std::vector<std::string>;
using WordSet = std::set<std::string>;

constexpr std::int64_t kSentences = 3000;

// English words, then what their French begins with; two beginnings for a homonym of two translations.
constexpr const char* kDictionary =
    "man men homme,woman women femme,boy boys garçon,girl girls fille,king kings roi,queen queens reine,"
    "uncle uncles oncle,aunt aunts tante,actor actors acteur,actress actresses actrice,waiter waiters serveur,"
    "waitress waitresses serveuse,monk monks moine,nun nuns nonne,prince princes prince,"
    "princess princesses princesse,cat cats chat,dog dogs chien,horse horses chev,cow cows vache,goat goats chèvre,"
    "bird birds oiseau,donkey donkeys âne,fox foxes renard,key keys clé,door doors porte,book books livre,"
    "box boxes boîte,chair chairs chaise,lamp lamps lampe,coat coats manteau,knife knives couteau,tree trees arbre,"
    "car cars voiture,clock clocks horloge,umbrella umbrellas parapluie,crane cranes grue,mouse mice souris,"
    "see sees voi,find finds trouve,watch watches regarde,draw draws dessine,admire admires admire,"
    "follow follows sui,hear hears entend,help helps aide,buy buys ach,clean cleans nettoie,fall falls tombe,"
    "disappear disappears dispara,sleep sleeps dor,run runs cour,arrive arrives arrive,sing sings chante,"
    "laugh laughs ri,eat eats mange,say says di,think thinks pense,know knows sa,believe believes cro,"
    "claim claims affirme,feed feeds nourri,tame tames apprivoise,repair repairs répare,break breaks casse,"
    "climb climbs gravi,rob robs dévalise,close closes ferme,twinkle twinkles scintille,greet greets salue,is est,"
    "are sont,small petit,strange étrange,pretty joli,young jeune,tired fatigué,hungry affamé,happy heureu,sad triste,"
    "famous célèbre,shy timide,polite poli,wild sauvage,black noir,white blanc,wet mouillé,dirty sale,heavy lourd,"
    "green vert,broken cassé,rusty rouillé,muddy boueu,steep escarpé,honest honnête,private privé,distant lointain,"
    "bluish bleuâtre,behind derrière,with avec,and et";
const std::map<std::string, WordSet>& two_meanings() {
  static const std::map<std::string, WordSet> kWords = {
      {"bat", {"chauve-souris", "batte"}}, {"bats", {"chauves-souris", "battes"}}, {"seal", {"phoque", "joint"}},
      {"seals", {"phoques", "joints"}},    {"bank", {"rive", "banque"}},           {"banks", {"rives", "banques"}},
      {"star", {"étoile", "vedette"}},     {"stars", {"étoiles", "vedettes"}}};
  return kWords;
}

const WordSet& feminine_nouns() {
  static const WordSet kWords = {"femme",     "fille",   "reine",   "tante",  "actrice", "serveuse", "nonne",
                                 "princesse", "vache",   "chèvre",  "clé",    "porte",   "boîte",    "chaise",
                                 "lampe",     "voiture", "horloge", "grue",   "souris",  "batte",    "chauve-souris",
                                 "rive",      "banque",  "étoile",  "vedette"};
  return kWords;
}

const WordSet& before_noun() {
  static const WordSet kWords = {"petit", "petite", "petits", "petites", "joli",
                                 "jolie", "jolis",  "jolies", "jeune",   "jeunes"};
  return kWords;
}

// Feminine forms that differ from the masculine ones.
const WordSet& feminine_forms() {
  static const WordSet kWords = {"petite",   "jolie",   "fatiguée", "affamée", "heureuse", "polie",
                                 "noire",    "blanche", "mouillée", "lourde",  "verte",    "cassée",
                                 "rouillée", "boueuse", "escarpée", "privée",  "lointaine"};
  return kWords;
}

Words split(const std::string& text, char at) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; std::getline(stream, word, at);) words.push_back(word);
  return words;
}

bool starts_with_vowel_sound(const std::string& word) {
  const std::string first = word.substr(0, static_cast<unsigned char>(word[0]) < 0x80 ? 1 : 2);
  return WordSet{"a", "e", "i", "o", "u", "h", "é", "è", "ê", "â"}.contains(first);
}

bool is_plural_english(const std::string& word) {
  return WordSet{"men", "women", "mice", "they", "them"}.contains(word) ||
         (word.ends_with('s') && !word.ends_with("ss"));
}

bool is_feminine(std::string noun, bool plural) {
  if (noun == "chauves-souris") noun = "chauve-souris";
  if (plural && noun != "souris" && noun != "chauve-souris") noun.pop_back();
  return feminine_nouns().contains(noun);
}

// One example, read.
struct Pair {
  Words english;
  std::vector<Dependency> tree;
  Words french;
  std::vector<std::vector<std::int64_t>> keys;  // of each French word

  [[nodiscard]] const std::string& label(std::int64_t place) const {
    return tree[static_cast<std::size_t>(place)].label;
  }
  [[nodiscard]] const std::string& word(std::int64_t place) const { return english[static_cast<std::size_t>(place)]; }
  // The French word that renders an English one alone.
  [[nodiscard]] std::string french_of(std::int64_t place) const {
    for (std::size_t p = 0; p < french.size(); ++p) {
      if (keys[p] == std::vector<std::int64_t>{place}) return french[p];
    }
    return "nothing";
  }
};

class Translations : public testing::Test {
 protected:
  void for_each(const std::function<void(const Example&, const Pair&)>& check) const {
    for (std::int64_t n = 0; n < kSentences && !HasFailure(); ++n) {
      const Example example = task_->example(n % 4 == 0 ? Split::test : Split::train, n);
      SCOPED_TRACE(show(*task_, example));
      Pair pair{split(example.syntax->sentence, ' '), example.syntax->dependencies, {}, {}};
      for (const std::int32_t token : example.tokens) pair.french.push_back(task_->vocabulary().piece(token));
      EXPECT_EQ(pair.french.front(), "<s>");
      pair.french.erase(pair.french.begin());
      for (const PatternRow& row : example.patterns[0]) pair.keys.push_back(row.keys);
      ASSERT_EQ(pair.keys.size(), pair.french.size());
      check(example, pair);
    }
  }

  std::unique_ptr<const Task> task_ = make_task("translation");
};

// The noun that an English noun, pronoun or relative "that" means.
std::int64_t noun_of(const Example& example, std::int64_t place) {
  const auto found = std::ranges::find(example.syntax->coreferences, place, &Coreference::mention);
  return found == example.syntax->coreferences.end() ? place : found->antecedent;
}

std::int64_t subject_of(const Example& example, const Pair& pair, std::int64_t verb) {
  for (std::int64_t place = 0; place < verb; ++place) {
    if (pair.label(place) == "nsubj" && pair.tree[static_cast<std::size_t>(place)].head == verb) {
      return noun_of(example, place);
    }
  }
  ADD_FAILURE() << "no subject";
  return 0;
}

bool feminine_at(const Pair& pair, std::int64_t noun) {
  return is_feminine(pair.french_of(noun), is_plural_english(pair.word(noun)));
}

TEST_F(Translations, AreReadAndPredictedWordByWord) {
  for_each([&](const Example& example, const Pair& pair) {
    EXPECT_EQ(task_->source_vocabulary().decode(example.source), example.syntax->sentence + " </s>");
    for (std::size_t p = 0; p < pair.french.size(); ++p) {
      EXPECT_EQ(task_->vocabulary().piece(*example.labels[p]), pair.french[p]);
    }
    EXPECT_EQ(task_->vocabulary().piece(*example.labels.back()), "</s>");
    const std::string text = task_->vocabulary().decode(example.tokens);
    EXPECT_EQ(task_->vocabulary().encode(text).ids, example.tokens);
  });
}

TEST_F(Translations, RenderEveryEnglishWordByTheDictionary) {
  std::map<std::string, std::string> beginnings;
  for (const std::string& entry : split(kDictionary, ',')) {
    const Words words = split(entry, ' ');
    for (std::size_t i = 0; i + 1 < words.size(); ++i) beginnings[words[i]] = words.back();
  }
  for_each([&](const Example&, const Pair& pair) {
    std::set<std::int64_t> rendered;
    for (std::size_t p = 0; p < pair.french.size(); ++p) {
      rendered.insert(pair.keys[p].begin(), pair.keys[p].end());
      if (pair.keys[p].size() > 1) {
        EXPECT_EQ(pair.keys[p].size(), 2U);
        EXPECT_EQ(pair.word(pair.keys[p][0]), "near");
        EXPECT_EQ(pair.keys[p][1], pair.keys[p][0] + 1);
        EXPECT_TRUE((WordSet{"du", "des", "de", "d'"}.contains(pair.french[p])));
        continue;
      }
      const std::string& english = pair.word(pair.keys[p][0]);
      if (beginnings.contains(english)) {
        EXPECT_TRUE(pair.french[p].starts_with(beginnings.at(english))) << english;
      }
      if (two_meanings().contains(english)) {
        EXPECT_TRUE(two_meanings().at(english).contains(pair.french[p])) << english;
      }
      if (english == "near") {
        EXPECT_TRUE((WordSet{"près", "de", "d'"}.contains(pair.french[p])));
      }
    }
    EXPECT_EQ(rendered.size(), pair.english.size());
  });
}

TEST_F(Translations, TellTheSensesOfHomonymsApart) {
  const WordSet animal = {"hungry", "tired"};
  const WordSet object = {"broken", "rusty"};
  int seen = 0;
  for_each([&](const Example&, const Pair& pair) {
    for (std::int64_t place = 1; place < static_cast<std::int64_t>(pair.english.size()); ++place) {
      const std::string& word = pair.word(place);
      const std::string& before = pair.word(place - 1);
      const bool bat = word == "bat" || word == "bats";
      const bool seal = word == "seal" || word == "seals";
      if ((!bat && !seal) || (!animal.contains(before) && !object.contains(before))) continue;
      ++seen;
      const std::string expected =
          bat ? (animal.contains(before) ? "chauve" : "batte") : (animal.contains(before) ? "phoque" : "joint");
      EXPECT_TRUE(pair.french_of(place).starts_with(expected));
    }
  });
  EXPECT_GT(seen, 20);
}

TEST_F(Translations, HaveArticlesThatAgree) {
  const WordSet plural = {"les", "des", "ces", "de", "d'"};
  for_each([&](const Example&, const Pair& pair) {
    for (std::size_t p = 0; p < pair.french.size(); ++p) {
      const std::int64_t place = pair.keys[p].back();
      if (pair.label(place) != "det") continue;
      const std::int64_t noun = *pair.tree[static_cast<std::size_t>(place)].head;
      const std::string& text = pair.french[p];
      const std::string& english = pair.word(place);
      if (is_plural_english(pair.word(noun))) {
        EXPECT_TRUE(plural.contains(text));
      } else if (feminine_at(pair, noun)) {
        EXPECT_TRUE((WordSet{"la", "l'", "une", "cette"}.contains(text)));
      } else {
        EXPECT_TRUE((WordSet{"le", "l'", "un", "ce", "cet", "du"}.contains(text)));
      }
      if (english == "the") {
        EXPECT_TRUE((WordSet{"le", "la", "l'", "les", "du", "des"}.contains(text)));
      }
      if (english == "a" || english == "an") {
        EXPECT_TRUE((WordSet{"un", "une"}.contains(text)));
      }
      if (english == "some") {
        EXPECT_TRUE((WordSet{"des", "de", "d'"}.contains(text)));
      }
      if (english.starts_with("th") && english != "the") {
        EXPECT_TRUE((WordSet{"ce", "cet", "cette", "ces"}.contains(text)));
      }
    }
  });
}

TEST_F(Translations, HaveAdjectivesThatAgreeAndStandWhereTheyShould) {
  for_each([&](const Example& example, const Pair& pair) {
    for (std::size_t p = 0; p < pair.french.size(); ++p) {
      const std::int64_t place = pair.keys[p].front();
      const bool attribute = pair.label(place) == "amod";
      if (!attribute && pair.label(place) != "acomp") continue;
      const std::int64_t head = *pair.tree[static_cast<std::size_t>(place)].head;
      const std::int64_t noun = attribute ? head : subject_of(example, pair, head);
      const bool plural = is_plural_english(pair.word(noun));
      const std::string& text = pair.french[p];
      const bool ends_as_plural = text.ends_with('s') || text == "heureux" || text == "boueux";
      EXPECT_TRUE(plural ? ends_as_plural : !text.ends_with('s')) << text;
      const std::string singular = text.ends_with('s') ? text.substr(0, text.size() - 1) : text;
      if (feminine_at(pair, noun)) {
        EXPECT_TRUE(singular.ends_with('e')) << text;
      } else {
        EXPECT_FALSE(feminine_forms().contains(singular)) << text;
      }
      const std::string beside = before_noun().contains(text) ? pair.french[p + 1] : pair.french[p - 1];
      if (attribute) {
        EXPECT_EQ(beside, pair.french_of(noun));
      }
      if (!attribute) {
        EXPECT_TRUE(beside == "est" || beside == "sont" || before_noun().contains(text));
      }
    }
  });
}

TEST_F(Translations, HaveVerbsThatAgree) {
  for_each([](const Example&, const Pair& pair) {
    for (std::size_t p = 0; p < pair.french.size(); ++p) {
      const std::int64_t place = pair.keys[p].front();
      if (!WordSet{"root", "relcl", "ccomp", "conj"}.contains(pair.label(place))) continue;
      const std::string& english = pair.word(place);
      const bool plural = english == "are" || !english.ends_with('s');
      EXPECT_EQ(pair.french[p].ends_with("nt"), plural) << pair.french[p];
    }
  });
}

TEST_F(Translations, HavePronounsOfTheirNounsGender) {
  const std::map<std::string, std::pair<WordSet, WordSet>> forms = {// masculine, feminine
                                                                    {"he", {{"il"}, {}}},
                                                                    {"she", {{}, {"elle"}}},
                                                                    {"him", {{"le", "l'"}, {}}},
                                                                    {"her", {{}, {"la", "l'"}}},
                                                                    {"they", {{"ils"}, {"elles"}}},
                                                                    {"them", {{"les"}, {"les"}}},
                                                                    {"it", {{"il", "le", "l'"}, {"elle", "la", "l'"}}}};
  int clitics = 0;
  for_each([&](const Example& example, const Pair& pair) {
    for (std::size_t p = 0; p < pair.french.size(); ++p) {
      const std::int64_t place = pair.keys[p].front();
      const auto found = forms.find(pair.word(place));
      if (found == forms.end()) continue;
      const bool feminine = feminine_at(pair, noun_of(example, place));
      EXPECT_TRUE((feminine ? found->second.second : found->second.first).contains(pair.french[p])) << pair.french[p];
      const bool subject = WordSet{"il", "elle", "ils", "elles"}.contains(pair.french[p]);
      EXPECT_EQ(subject, pair.label(place) == "nsubj");
      ASSERT_LT(p + 1, pair.french.size());
      EXPECT_EQ(pair.keys[p + 1].front(), *pair.tree[static_cast<std::size_t>(place)].head) << "its verb comes next";
      clitics += subject ? 0 : 1;
    }
  });
  EXPECT_GT(clitics, kSentences / 50);
}

TEST_F(Translations, HaveTheRelativePronounOfTheRole) {
  for_each([](const Example&, const Pair& pair) {
    for (std::size_t p = 0; p < pair.french.size(); ++p) {
      const std::int64_t place = pair.keys[p].front();
      if (pair.word(place) != "that" || pair.label(place) == "det") continue;
      const bool subject = pair.label(place) == "nsubj";
      EXPECT_TRUE(subject ? pair.french[p] == "qui" : pair.french[p] == "que" || pair.french[p] == "qu'");
    }
  });
}

TEST_F(Translations, ElideAndContract) {
  for_each([](const Example&, const Pair& pair) {
    for (std::size_t p = 0; p + 1 < pair.french.size(); ++p) {
      const std::string& text = pair.french[p];
      const std::string& next = pair.french[p + 1];
      const bool vowel = starts_with_vowel_sound(next);
      if (WordSet{"le", "la", "de", "que", "ce", "du"}.contains(text)) {
        EXPECT_FALSE(vowel) << text << " " << next;
      }
      if (text.ends_with('\'') || text == "cet") {
        EXPECT_TRUE(vowel) << text << " " << next;
      }
      if (text == "de") {
        EXPECT_FALSE((WordSet{"le", "les", "des", "de"}.contains(next)));
      }
      if (text == "des" && pair.keys[p].size() == 1) {
        EXPECT_FALSE(before_noun().contains(next));
      }
    }
  });
}

}  // namespace
}  // namespace qkv::french_test
