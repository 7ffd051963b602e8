#include "text/files_beside.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <unordered_map>
#include <utility>

#include "files/place.h"
#include "qkv/error.h"
#include "text/tokenizer_class.h"

namespace qkv::text {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDecoder = "added_tokens_decoder";
constexpr std::array<const char*, 2> kLists = {"additional_special_tokens", "extra_special_tokens"};

Json object_in(const fs::path& path) {
  Json value = parse_json(files::read_text(path.string()), path.string());
  if (!value.is_object()) JsonField(value, path.string()).fail("an object");
  return value;
}

// A token that a file asks for, with the number that it has there.
struct WantedToken {
  AddedToken token;
  std::optional<std::int32_t> id = std::nullopt;
  bool counts_at_once = true;  // not one of additional_special_tokens, which are read behind added_tokens.json
};

// "<s>", or an object of its options.
WantedToken token_from(const JsonField& field, bool special) {
  WantedToken wanted;
  wanted.token.special = special;
  if (!field.value().is_object()) {
    wanted.token.content = field.string();
    return wanted;
  }
  const auto flag = [&](const char* name, bool usual) {
    const auto said = field.find(name);
    return said ? said->boolean() : usual;
  };
  wanted.token.content = field.at("content").string();
  wanted.token.special = special || flag("special", false);
  wanted.token.single_word = flag("single_word", false);
  wanted.token.lstrip = flag("lstrip", false);
  wanted.token.rstrip = flag("rstrip", false);
  wanted.token.normalized = flag("normalized", !wanted.token.special);
  return wanted;
}

bool is_token(const Json& value) {
  return value.is_string() || (value.is_object() && value.contains("content") && value["content"].is_string());
}

/// Special tokens in the order in which `transformers` adds them: by their names, then lists of them.
std::vector<WantedToken> special_tokens_in(const Json& file, const std::string& source) {
  const JsonField root(file, source);
  std::vector<WantedToken> all;
  const auto add = [&](const std::string& key) {
    const auto field = root.find(key);
    if (field && is_token(field->value())) all.push_back(token_from(*field, true));
  };
  for (const SpecialTokenName& name : kSpecialTokenNames) add(name.of_files);
  for (const auto& [key, value] : file.items()) {
    const bool is_usual =
        std::ranges::find(kSpecialTokenNames, key, &SpecialTokenName::of_files) != kSpecialTokenNames.end();
    if (!is_usual && key.ends_with("_token")) add(key);
  }
  for (const char* name : kLists) {
    const auto list = root.find(name);
    if (!list) continue;
    const std::size_t before = all.size();
    if (list->value().is_object()) {
      for (const auto& [key, value] : list->value().items()) all.push_back(token_from(list->at(key), true));
    } else {
      for (const JsonField& next : list->elements()) all.push_back(token_from(next, true));
    }
    for (std::size_t n = before; n < all.size(); ++n) all[n].counts_at_once = name != kLists[0];
  }
  return all;
}

std::int32_t id_from(const JsonField& place, std::string_view text) {
  std::int32_t id = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id < 0 || id == INT32_MAX) {
    place.fail("the numbers of tokens as keys", "\"" + std::string(text) + "\"");
  }
  return id;
}

std::vector<WantedToken> tokens_with_numbers(const FilesBeside& files, const std::vector<WantedToken>& specials) {
  std::vector<WantedToken> all;
  const JsonField config(files.config, files.folder + "/tokenizer_config.json");
  if (const auto decoder = config.find(kDecoder)) {
    if (!decoder->value().is_object()) decoder->fail("an object");
    for (const auto& [key, value] : decoder->value().items()) {
      all.push_back(token_from(decoder->at(key), false));
      all.back().id = id_from(*decoder, key);
    }
  } else {
    const JsonField added(files.added, files.folder + "/added_tokens.json");
    for (const auto& [content, value] : files.added.items()) {
      const auto other = std::ranges::find_if(
          specials, [&sought = content](const WantedToken& special) { return special.token.content == sought; });
      const bool is_special = other != specials.end();
      const bool normalized = !is_special || !other->counts_at_once;
      WantedToken wanted{.token = {.content = content, .normalized = normalized, .special = is_special}};
      wanted.id = static_cast<std::int32_t>(added.at(content).whole(0, INT32_MAX - 1));
      all.push_back(std::move(wanted));
    }
  }
  std::ranges::sort(all, {}, [](const WantedToken& wanted) { return *wanted.id; });
  return all;
}

/// Everything that the files ask for. Where tokenizer_config.json lists the added tokens, the older files do not count.
std::vector<WantedToken> wanted_tokens(const FilesBeside& files) {
  const bool lists_all = files.config.contains(kDecoder) && !files.config[kDecoder].is_null();
  std::vector<WantedToken> specials;
  if (!lists_all) specials = special_tokens_in(files.specials, files.folder + "/special_tokens_map.json");
  std::ranges::move(special_tokens_in(files.config, files.folder + "/tokenizer_config.json"),
                    std::back_inserter(specials));
  std::vector<WantedToken> all = tokens_with_numbers(files, specials);
  std::ranges::move(specials, std::back_inserter(all));
  std::erase_if(all, [](const WantedToken& wanted) { return wanted.token.content.empty(); });
  return all;
}

/// Added tokens, found by their texts and by their numbers.
class AddedList {
 public:
  AddedList(const std::vector<AddedToken>& tokens, std::int32_t size) : next_(size) {
    for (const AddedToken& token : tokens) add(token, token.id);
  }

  void add(AddedToken token, std::int32_t id) {
    token.id = id;
    places_.emplace(token.content, tokens_.size());
    next_ = std::max(next_, id + 1);
    tokens_.push_back(std::move(token));
  }
  [[nodiscard]] AddedToken* find(const std::string& content) {
    const auto found = places_.find(content);
    return found == places_.end() ? nullptr : &tokens_[found->second];
  }
  [[nodiscard]] std::int32_t next() const noexcept { return next_; }
  [[nodiscard]] std::vector<AddedToken> tokens() && { return std::move(tokens_); }

 private:
  std::vector<AddedToken> tokens_;
  std::unordered_map<std::string, std::size_t> places_;
  std::int32_t next_;
};

/// Tokens of the older files that tokenizer_config.json, which counts, does not list.
void name_what_is_left_out(const FilesBeside& files, AddedList& tokens, const KnownPieces& known) {
  if (!files.config.contains(kDecoder) || files.config[kDecoder].is_null()) return;
  const auto say = [&](const std::string& file, const std::string& content) {
    if (content.empty() || tokens.find(content) != nullptr || known.find(content)) return;
    files.caution(file + " has the token " + content + ", which added_tokens_decoder of tokenizer_config.json lacks: " +
                  "it is read as any other text, as transformers does");
  };
  for (const auto& [content, id] : files.added.items()) say("added_tokens.json", content);
  for (const WantedToken& wanted : special_tokens_in(files.specials, files.folder + "/special_tokens_map.json")) {
    say("special_tokens_map.json", wanted.token.content);
  }
}

}  // namespace

std::string FilesBeside::tokenizer_class() const {
  const auto named = config.find("tokenizer_class");
  std::string name = named != config.end() && named->is_string() ? named->get<std::string>() : model_class;
  if (name.ends_with("Fast")) name.resize(name.size() - std::string_view("Fast").size());
  return name.empty() ? std::string(tokenizer_class_of(model_type)) : name;
}

FilesBeside FilesBeside::with_usual(std::initializer_list<std::pair<const char*, const char*>> usual) const {
  FilesBeside all = *this;
  for (const auto& [name, text] : usual) {
    if (!token(name)) all.config[name] = text;
  }
  return all;
}

std::optional<bool> FilesBeside::flag(const char* name) const {
  const auto said = JsonField(config, folder + "/tokenizer_config.json").find(name);
  return said ? std::optional(said->boolean()) : std::nullopt;
}

std::optional<std::string> FilesBeside::token(const char* name) const {
  for (const auto& [file, title] :
       {std::pair(&config, "tokenizer_config.json"), {&specials, "special_tokens_map.json"}}) {
    const auto field = JsonField(*file, folder + "/" + title).find(name);
    if (field) return token_from(*field, true).token.content;
  }
  return std::nullopt;
}

void FilesBeside::caution(const std::string& what) const {
  if (cautions != nullptr && std::ranges::find(*cautions, what) == cautions->end()) cautions->push_back(what);
}

FilesBeside read_files_beside(const fs::path& file, std::vector<std::string>* cautions) {
  const fs::path folder = file.parent_path();
  FilesBeside files{.folder = folder.string(), .cautions = cautions};
  const auto read = [&](const char* name, Json& to) {
    if (!files::is_there((folder / name).string())) return;
    to = object_in(folder / name);
    files.any = true;
  };
  read("tokenizer_config.json", files.config);
  read("special_tokens_map.json", files.specials);
  read("added_tokens.json", files.added);
  if (!files::is_there((folder / "config.json").string())) return files;
  files.any = true;
  const Json config = [&]() -> Json {
    try {
      return parse_json(files::read_text((folder / "config.json").string()), "config.json");
    } catch (const Error&) {
      return nullptr;  // whoever reads the model says what is wrong with it
    }
  }();
  if (!config.is_object()) return files;
  const auto type = config.find("model_type");
  if (type != config.end() && type->is_string()) files.model_type = type->get<std::string>();
  const auto named = config.find("tokenizer_class");
  if (named != config.end() && named->is_string()) files.model_class = named->get<std::string>();
  return files;
}

KnownPieces known_pieces(const Json& vocab) {
  const auto known = std::make_shared<std::unordered_map<std::string, std::int32_t>>();
  std::int32_t size = 0;
  const auto add = [&](const Json& piece, std::int64_t id) {
    if (!piece.is_string() || id < 0 || id >= INT32_MAX) return;
    known->emplace(piece.get<std::string>(), static_cast<std::int32_t>(id));
    size = std::max(size, static_cast<std::int32_t>(id) + 1);
  };
  for (std::size_t n = 0; vocab.is_array() && n < vocab.size(); ++n) {
    if (vocab[n].is_array() && !vocab[n].empty()) add(vocab[n][0], static_cast<std::int64_t>(n));
  }
  if (vocab.is_object()) {
    for (const auto& [piece, id] : vocab.items()) add(piece, id.is_number_integer() ? id.get<std::int64_t>() : -1);
  }
  return {.find = [known](const std::string& piece) -> std::optional<std::int32_t> {
            const auto found = known->find(piece);
            return found == known->end() ? std::nullopt : std::optional(found->second);
          },
          .size = size};
}

namespace {

// Who asks for a number of another order has another tokenizer's file.
void require_near(const FilesBeside& files, std::int32_t id, const AddedToken& token, std::int32_t next) {
  const std::int64_t highest = highest_id(static_cast<std::size_t>(next));
  if (id <= highest) return;
  const bool lists_all = files.config.contains(kDecoder) && !files.config[kDecoder].is_null();
  throw FileError(
      files.folder + (lists_all ? "/tokenizer_config.json: added_tokens_decoder" : "/added_tokens.json"),
      "expected numbers up to " + std::to_string(highest) + ", got " + std::to_string(id) + " for " + token.content);
}

}  // namespace

std::vector<AddedToken> with_tokens_beside(const FilesBeside& files, std::vector<AddedToken> had,
                                           const std::function<KnownPieces()>& pieces) {
  const std::vector<WantedToken> wanted = wanted_tokens(files);
  if (wanted.empty()) return had;
  const KnownPieces known = pieces();
  AddedList all(had, known.size);
  for (const WantedToken& next : wanted) {
    const AddedToken& token = next.token;
    const std::optional<std::int32_t> id = next.id;
    if (AddedToken* const other = all.find(token.content)) {
      other->special = other->special || token.special;
      continue;
    }
    if (id) require_near(files, *id, token, all.next());
    const std::optional<std::int32_t> own = known.find(token.content);
    const bool is_free = id && *id > all.next();
    const std::int32_t number = own ? *own : all.next();
    all.add(token, number);
    if (!id || number == *id) continue;
    files.caution("the token " + token.content + " is number " + std::to_string(number) + ", not " +
                  std::to_string(*id) + " as the files beside the tokenizer say, " +
                  (own       ? "since it is a piece"
                   : is_free ? "since transformers counts on, without gaps"
                             : "which is another piece's"));
  }
  name_what_is_left_out(files, all, known);
  return std::move(all).tokens();
}

Json json_of(const AddedToken& token) {
  return {{"id", token.id},          {"content", token.content}, {"single_word", token.single_word},
          {"lstrip", token.lstrip},  {"rstrip", token.rstrip},   {"normalized", token.normalized},
          {"special", token.special}};
}

}  // namespace qkv::text
