#include "train/tasks/grammar/lexicon.h"

namespace qkv::training {

const std::vector<Noun>& nouns() {
  constexpr FrenchGender m = FrenchGender::masculine;
  constexpr FrenchGender f = FrenchGender::feminine;
  static const std::vector<Noun> kNouns = {
      {{"man", "men"}, {"homme", "hommes"}, m, kMale},
      {{"boy", "boys"}, {"garçon", "garçons"}, m, kMale},
      {{"king", "kings"}, {"roi", "rois"}, m, kMale},
      {{"uncle", "uncles"}, {"oncle", "oncles"}, m, kMale},
      {{"actor", "actors"}, {"acteur", "acteurs"}, m, kMale},
      {{"waiter", "waiters"}, {"serveur", "serveurs"}, m, kMale},
      {{"monk", "monks"}, {"moine", "moines"}, m, kMale},
      {{"prince", "princes"}, {"prince", "princes"}, m, kMale},
      {{"woman", "women"}, {"femme", "femmes"}, f, kFemale},
      {{"girl", "girls"}, {"fille", "filles"}, f, kFemale},
      {{"queen", "queens"}, {"reine", "reines"}, f, kFemale},
      {{"aunt", "aunts"}, {"tante", "tantes"}, f, kFemale},
      {{"actress", "actresses"}, {"actrice", "actrices"}, f, kFemale},
      {{"waitress", "waitresses"}, {"serveuse", "serveuses"}, f, kFemale},
      {{"nun", "nuns"}, {"nonne", "nonnes"}, f, kFemale},
      {{"princess", "princesses"}, {"princesse", "princesses"}, f, kFemale},
      {{"cat", "cats"}, {"chat", "chats"}, m, kAnimal},
      {{"dog", "dogs"}, {"chien", "chiens"}, m, kAnimal},
      {{"horse", "horses"}, {"cheval", "chevaux"}, m, kAnimal},
      {{"cow", "cows"}, {"vache", "vaches"}, f, kAnimal},
      {{"goat", "goats"}, {"chèvre", "chèvres"}, f, kAnimal},
      {{"bird", "birds"}, {"oiseau", "oiseaux"}, m, kAnimal},
      {{"donkey", "donkeys"}, {"âne", "ânes"}, m, kAnimal},
      {{"fox", "foxes"}, {"renard", "renards"}, m, kAnimal},
      {{"key", "keys"}, {"clé", "clés"}, f, kThing},
      {{"door", "doors"}, {"porte", "portes"}, f, kThing},
      {{"book", "books"}, {"livre", "livres"}, m, kThing},
      {{"box", "boxes"}, {"boîte", "boîtes"}, f, kThing},
      {{"chair", "chairs"}, {"chaise", "chaises"}, f, kThing},
      {{"lamp", "lamps"}, {"lampe", "lampes"}, f, kThing},
      {{"coat", "coats"}, {"manteau", "manteaux"}, m, kThing},
      {{"knife", "knives"}, {"couteau", "couteaux"}, m, kThing},
      {{"tree", "trees"}, {"arbre", "arbres"}, m, kThing},
      {{"car", "cars"}, {"voiture", "voitures"}, f, kThing},
      {{"clock", "clocks"}, {"horloge", "horloges"}, f, kThing},
      {{"umbrella", "umbrellas"}, {"parapluie", "parapluies"}, m, kThing},
  };
  return kNouns;
}

}  // namespace qkv::training
