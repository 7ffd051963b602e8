#include "train/tasks/grammar/lexicon.h"

#include <algorithm>

namespace qkv::training {
namespace {

constexpr std::size_t kNeutralTransitive = 5;
constexpr std::size_t kNeutralIntransitive = 2;
constexpr std::size_t kNeutralAdjectives = 2;

// The first few say nothing of what a homonym means.
constexpr Verb kTransitive[] = {
    {{"sees", "see"}, {"voit", "voient"}, kAnimate, kAny},
    {{"finds", "find"}, {"trouve", "trouvent"}, kAnimate, kAny},
    {{"watches", "watch"}, {"regarde", "regardent"}, kAnimate, kAny},
    {{"draws", "draw"}, {"dessine", "dessinent"}, kPerson, kAny},
    {{"admires", "admire"}, {"admire", "admirent"}, kPerson, kAny},
    {{"follows", "follow"}, {"suit", "suivent"}, kAnimate, kAnimate},
    {{"hears", "hear"}, {"entend", "entendent"}, kAnimate, kAnimate},
    {{"helps", "help"}, {"aide", "aident"}, kPerson, kPerson},
    {{"buys", "buy"}, {"achète", "achètent"}, kPerson, kThing},
    {{"cleans", "clean"}, {"nettoie", "nettoient"}, kPerson, kThing},
};

constexpr Verb kIntransitive[] = {
    {{"falls", "fall"}, {"tombe", "tombent"}, kAny},
    {{"disappears", "disappear"}, {"disparaît", "disparaissent"}, kAny},
    {{"sleeps", "sleep"}, {"dort", "dorment"}, kAnimate},
    {{"runs", "run"}, {"court", "courent"}, kAnimate},
    {{"arrives", "arrive"}, {"arrive", "arrivent"}, kAnimate},
    {{"sings", "sing"}, {"chante", "chantent"}, kPerson},
    {{"laughs", "laugh"}, {"rit", "rient"}, kPerson},
    {{"eats", "eat"}, {"mange", "mangent"}, kAnimate},
};
constexpr const Verb& kSleep = kIntransitive[2];
constexpr const Verb& kSing = kIntransitive[5];
constexpr const Verb& kLaugh = kIntransitive[6];
constexpr const Verb& kEat = kIntransitive[7];

constexpr Verb kWithClause[] = {
    {{"says", "say"}, {"dit", "disent"}, kPerson},
    {{"thinks", "think"}, {"pense", "pensent"}, kPerson},
    {{"knows", "know"}, {"sait", "savent"}, kPerson},
    {{"believes", "believe"}, {"croit", "croient"}, kPerson},
    {{"claims", "claim"}, {"affirme", "affirment"}, kPerson},
};

constexpr Verb kCopula = {{"is", "are"}, {"est", "sont"}, kAny};

constexpr Adjective kAdjectives[] = {
    {"small", {"petit", "petite", "petits", "petites"}, kAny, true},
    {"strange", {"étrange", "étrange", "étranges", "étranges"}, kAny},
    {"pretty", {"joli", "jolie", "jolis", "jolies"}, kAny, true},
    {"young", {"jeune", "jeune", "jeunes", "jeunes"}, kAnimate, true},
    {"tired", {"fatigué", "fatiguée", "fatigués", "fatiguées"}, kAnimate},
    {"hungry", {"affamé", "affamée", "affamés", "affamées"}, kAnimate},
    {"happy", {"heureux", "heureuse", "heureux", "heureuses"}, kPerson},
    {"sad", {"triste", "triste", "tristes", "tristes"}, kPerson},
    {"famous", {"célèbre", "célèbre", "célèbres", "célèbres"}, kPerson},
    {"shy", {"timide", "timide", "timides", "timides"}, kPerson},
    {"polite", {"poli", "polie", "polis", "polies"}, kPerson},
    {"wild", {"sauvage", "sauvage", "sauvages", "sauvages"}, kAnimal},
    {"black", {"noir", "noire", "noirs", "noires"}, kAnimal | kThing},
    {"white", {"blanc", "blanche", "blancs", "blanches"}, kAnimal | kThing},
    {"wet", {"mouillé", "mouillée", "mouillés", "mouillées"}, kAnimal | kThing},
    {"dirty", {"sale", "sale", "sales", "sales"}, kAnimal | kThing},
    {"heavy", {"lourd", "lourde", "lourds", "lourdes"}, kThing},
    {"green", {"vert", "verte", "verts", "vertes"}, kThing},
};
constexpr const Adjective& kTired = kAdjectives[4];
constexpr const Adjective& kHungry = kAdjectives[5];
constexpr const Adjective& kFamous = kAdjectives[8];
constexpr const Adjective& kShy = kAdjectives[9];
constexpr const Adjective& kPolite = kAdjectives[10];

// Words that only go with one sense of a homonym.
constexpr Verb kFeed = {{"feeds", "feed"}, {"nourrit", "nourrissent"}, kPerson, kAnimal};
constexpr Verb kTame = {{"tames", "tame"}, {"apprivoise", "apprivoisent"}, kPerson, kAnimal};
constexpr Verb kRepair = {{"repairs", "repair"}, {"répare", "réparent"}, kPerson, kThing};
constexpr Verb kBreak = {{"breaks", "break"}, {"casse", "cassent"}, kPerson, kThing};
constexpr Verb kClimb = {{"climbs", "climb"}, {"gravit", "gravissent"}, kPerson, kThing};
constexpr Verb kRob = {{"robs", "rob"}, {"dévalise", "dévalisent"}, kPerson, kThing};
constexpr Verb kClose = {{"closes", "close"}, {"ferme", "ferment"}, kThing};
constexpr Verb kTwinkle = {{"twinkles", "twinkle"}, {"scintille", "scintillent"}, kThing};
constexpr Verb kGreet = {{"greets", "greet"}, {"salue", "saluent"}, kPerson, kPerson};
constexpr Adjective kBroken = {"broken", {"cassé", "cassée", "cassés", "cassées"}, kThing};
constexpr Adjective kRusty = {"rusty", {"rouillé", "rouillée", "rouillés", "rouillées"}, kThing};
constexpr Adjective kMuddy = {"muddy", {"boueux", "boueuse", "boueux", "boueuses"}, kThing};
constexpr Adjective kSteep = {"steep", {"escarpé", "escarpée", "escarpés", "escarpées"}, kThing};
constexpr Adjective kHonest = {"honest", {"honnête", "honnête", "honnêtes", "honnêtes"}, kThing};
constexpr Adjective kPrivate = {"private", {"privé", "privée", "privés", "privées"}, kThing};
constexpr Adjective kDistant = {"distant", {"lointain", "lointaine", "lointains", "lointaines"}, kThing};
constexpr Adjective kBluish = {"bluish", {"bleuâtre", "bleuâtre", "bleuâtres", "bleuâtres"}, kThing};

Sense animal(std::array<std::string_view, 2> english, std::array<std::string_view, 2> french, FrenchGender gender,
             std::string_view sense) {
  return {{english, french, gender, kAnimal, sense}, {&kHungry, &kTired}, {&kFeed, &kTame}, {&kSleep, &kEat}};
}

Sense object(std::array<std::string_view, 2> english, std::array<std::string_view, 2> french, FrenchGender gender,
             std::string_view sense) {
  return {{english, french, gender, kThing, sense}, {&kBroken, &kRusty}, {&kRepair, &kBreak}, {}};
}

template <class T>
void add_new(std::vector<const T*>& all, const std::vector<const T*>& some) {
  for (const T* one : some) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }
}

}  // namespace

std::span<const Verb> transitive_verbs() { return kTransitive; }
std::span<const Verb> intransitive_verbs() { return kIntransitive; }
std::span<const Verb> neutral_transitive_verbs() { return transitive_verbs().first(kNeutralTransitive); }
std::span<const Verb> neutral_intransitive_verbs() { return intransitive_verbs().first(kNeutralIntransitive); }
std::span<const Verb> clause_verbs() { return kWithClause; }
const Verb& copula() { return kCopula; }
std::span<const Adjective> adjectives() { return kAdjectives; }
std::span<const Adjective> neutral_adjectives() { return adjectives().first(kNeutralAdjectives); }

const Preposition& near() {
  static const Preposition kNear = {"near", {"près", "de"}};
  return kNear;
}
const Preposition& behind() {
  static const Preposition kBehind = {"behind", {"derrière"}};
  return kBehind;
}
const Preposition& with() {
  static const Preposition kWith = {"with", {"avec"}};
  return kWith;
}

const std::vector<Sense>& senses() {
  constexpr FrenchGender m = FrenchGender::masculine;
  constexpr FrenchGender f = FrenchGender::feminine;
  static const std::vector<Sense> kSenses = {
      animal({"bat", "bats"}, {"chauve-souris", "chauves-souris"}, f, "bat/animal"),
      object({"bat", "bats"}, {"batte", "battes"}, f, "bat/stick"),
      animal({"crane", "cranes"}, {"grue", "grues"}, f, "crane/bird"),
      object({"crane", "cranes"}, {"grue", "grues"}, f, "crane/machine"),
      animal({"mouse", "mice"}, {"souris", "souris"}, f, "mouse/animal"),
      object({"mouse", "mice"}, {"souris", "souris"}, f, "mouse/device"),
      animal({"seal", "seals"}, {"phoque", "phoques"}, m, "seal/animal"),
      object({"seal", "seals"}, {"joint", "joints"}, m, "seal/ring"),
      {{{"bank", "banks"}, {"rive", "rives"}, f, kThing, "bank/river"}, {&kMuddy, &kSteep}, {&kClimb}, {}},
      {{{"bank", "banks"}, {"banque", "banques"}, f, kThing, "bank/money"}, {&kHonest, &kPrivate}, {&kRob}, {&kClose}},
      {{{"star", "stars"}, {"étoile", "étoiles"}, f, kThing, "star/sky"}, {&kDistant, &kBluish}, {}, {&kTwinkle}},
      {{{"star", "stars"}, {"vedette", "vedettes"}, f, kPerson, "star/person"},
       {&kFamous, &kShy, &kPolite},
       {&kGreet},
       {&kSing, &kLaugh}},
  };
  return kSenses;
}

std::vector<const Verb*> all_verbs() {
  std::vector<const Verb*> all;
  for (const std::span<const Verb> some : {transitive_verbs(), intransitive_verbs(), clause_verbs()}) {
    for (const Verb& verb : some) all.push_back(&verb);
  }
  for (const Sense& sense : senses()) {
    add_new(all, sense.object_of);
    add_new(all, sense.subject_of);
  }
  return all;
}

std::vector<const Adjective*> all_adjectives() {
  std::vector<const Adjective*> all;
  for (const Adjective& adjective : adjectives()) all.push_back(&adjective);
  for (const Sense& sense : senses()) add_new(all, sense.adjectives);
  return all;
}

std::string hidden_form(const Verb& verb) {
  return &verb == &kCopula ? "<be>" : "<" + std::string(verb.english[1]) + ">";
}

}  // namespace qkv::training
