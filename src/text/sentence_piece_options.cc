#include "text/sentence_piece_options.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "core/listed.h"
#include "qkv/error.h"

namespace qkv::text {
namespace {

constexpr const char* kPad = "<pad>";
constexpr const char* kMask = "<mask>";
constexpr const char* kNotUsed = "NOTUSED";

AddedToken added_piece(const SentencePiece& piece, std::size_t id) {
  return {.id = static_cast<std::int32_t>(id), .content = piece.text, .special = true};
}

// T5's sentinels stand behind the pieces, the last one first: extra_ids of them, 100 where nothing is said.
std::vector<std::string> sentinels(const FilesBeside& files) {
  constexpr std::int64_t kUsual = 100;
  constexpr std::int64_t kMost = 100'000;
  const auto said = JsonField(files.config, files.folder + "/tokenizer_config.json").find("extra_ids");
  const std::int64_t count = said ? said->whole(0, kMost) : kUsual;
  std::vector<std::string> all;
  for (std::int64_t n = count; n > 0; --n) all.push_back("<extra_id_" + std::to_string(n - 1) + ">");
  return all;
}

// `behind` are numbered behind those of the file.
KnownPieces known_pieces(const SentencePieceFile& file, const std::vector<std::string>& behind) {
  const auto ids = std::make_shared<std::unordered_map<std::string, std::int32_t>>();
  std::int32_t size = 0;
  for (const SentencePiece& piece : file.pieces) ids->emplace(piece.text, size++);
  for (const std::string& piece : behind) ids->emplace(piece, size++);
  return {.find = [ids](const std::string& piece) -> std::optional<std::int32_t> {
            const auto found = ids->find(piece);
            return found == ids->end() ? std::nullopt : std::optional(found->second);
          },
          .size = size};
}

bool is_t5(const std::string& name) { return name == "T5Tokenizer" || name == "MT5Tokenizer"; }

PieceOrder order_of(const std::string& name) {
  return name == "XLMRobertaTokenizer"  ? PieceOrder::xlm_roberta
         : name == "CamembertTokenizer" ? PieceOrder::camembert
                                        : PieceOrder::of_file;
}

SentencePieceEnds ends_of(const std::string& name, PieceOrder order, const FilesBeside& files) {
  if (order != PieceOrder::of_file) return {.bos = true, .eos = true};
  const bool is_siglip = name == "SiglipTokenizer";
  return {.bos = files.flag("add_bos_token", name == "LlamaTokenizer"),
          .eos = files.flag("add_eos_token", is_t5(name) || is_siglip)};
}

void require_ids(const std::vector<AddedToken>& tokens, std::size_t pieces, const FilesBeside& files) {
  const std::int64_t highest = highest_id(pieces + tokens.size());
  for (const AddedToken& token : tokens) {
    if (token.id <= highest) continue;
    throw FileError(files.folder, "expected added tokens with numbers up to " + std::to_string(highest) + ", got " +
                                      std::to_string(token.id) + " for " + token.content);
  }
}

constexpr std::array<const char*, 3> kOrders = {"file", "xlm-roberta", "camembert"};
constexpr std::array<const char*, 3> kCleanings = {"none", "siglip", "siglip-cased"};

template <class Enum>
Enum one_of(const JsonField& field, const std::array<const char*, 3>& names) {
  const auto found = std::ranges::find(names, field.string());
  if (found == names.end()) field.fail(core::joined(names, std::identity(), " or "));
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

SentencePieceFile with_order(SentencePieceFile file, PieceOrder order, const std::string& source) {
  if (order == PieceOrder::of_file) return file;
  const auto control = [](const std::string& text) {
    return SentencePiece{.text = text, .type = SentencePieceType::control};
  };
  const SentencePiece unknown{.text = "<unk>", .type = SentencePieceType::unknown};
  const bool is_xlm = order == PieceOrder::xlm_roberta;
  const std::size_t left_out = is_xlm ? 3 : 1;
  std::vector<SentencePiece> made =
      is_xlm ? std::vector<SentencePiece>{control(file.bos), control(kPad), control(file.eos), unknown}
             : std::vector<SentencePiece>{control("<s>NOTUSED"), control(kPad), control("</s>NOTUSED"), unknown,
                                          control("<unk>NOTUSED")};
  const bool begins_well =
      file.pieces.size() > left_out && file.unknown && static_cast<std::size_t>(*file.unknown) < left_out;
  if (!begins_well || file.byte_fallback) {
    throw FileError(source, "expected pieces that begin with <unk>, as fairseq's do, got others");
  }
  made.insert(made.end(), file.pieces.begin() + static_cast<std::ptrdiff_t>(left_out), file.pieces.end());
  made.push_back(control(kMask));
  for (std::size_t id = is_xlm ? 4 : 5; id + 1 < made.size(); ++id) {
    if (made[id].text == kPad || made[id].text == kMask) {
      throw FileError(source, "expected no piece " + made[id].text + ", which fairseq puts beside its own, got one");
    }
  }
  file.unknown = static_cast<std::int32_t>(3);
  file.pieces = std::move(made);
  return file;
}

SentencePieceOptions options_beside(const SentencePieceFile& file, const FilesBeside& files) {
  SentencePieceOptions options;
  const std::string name = files.tokenizer_class();
  options.order = order_of(name);
  options.ends = ends_of(name, options.order, files);
  options.eos_before_pair = options.order != PieceOrder::of_file;
  if (name == "SiglipTokenizer") {
    options.cleaning = files.flag("do_lower_case", true) ? TextCleaning::siglip : TextCleaning::siglip_cased;
  }
  options.blank_if_none = name == "LlamaTokenizer";
  options.blank_once = name == "LlamaTokenizer" && !files.flag("legacy", false);
  const bool is_bpe = file.model == SentencePieceModelType::bpe;
  options.cleans_up = !is_bpe && files.flag("clean_up_tokenization_spaces", false);
  if (!files.any) return options;
  const SentencePieceFile ordered = with_order(file, options.order, files.folder);
  const std::vector<std::string> behind = is_t5(name) ? sentinels(files) : std::vector<std::string>();
  const KnownPieces known = known_pieces(ordered, behind);
  std::vector<AddedToken> tokens = with_tokens_beside(files, {}, [&] { return known; });
  for (std::size_t id = 0; id < ordered.pieces.size(); ++id) {
    const SentencePiece& piece = ordered.pieces[id];
    const bool is_special = piece.type == SentencePieceType::control || piece.type == SentencePieceType::unknown;
    if (!is_special || piece.text.ends_with(kNotUsed)) continue;
    const bool is_there = std::ranges::find(tokens, piece.text, &AddedToken::content) != tokens.end();
    if (!is_there) tokens.push_back(added_piece(piece, id));
  }
  for (const std::string& content : behind) {
    const std::int32_t id = known.find(content).value();
    const bool is_new = static_cast<std::size_t>(id) >= ordered.pieces.size() &&
                        std::ranges::find(tokens, id, &AddedToken::id) == tokens.end();
    if (is_new) tokens.push_back({.id = id, .content = content, .special = true});
  }
  require_ids(tokens, ordered.pieces.size(), files);
  options.added = std::move(tokens);
  return options;
}

std::string text_of(const SentencePieceOptions& options) {
  Json added = Json::array();
  for (const AddedToken& token : options.added) added.push_back(json_of(token));
  const Json all = {{"add_bos_token", options.ends.bos},
                    {"add_eos_token", options.ends.eos},
                    {"order", kOrders[static_cast<std::size_t>(options.order)]},
                    {"cleaning", kCleanings[static_cast<std::size_t>(options.cleaning)]},
                    {"eos_before_pair", options.eos_before_pair},
                    {"blank_once", options.blank_once},
                    {"blank_if_none", options.blank_if_none},
                    {"cleans_up", options.cleans_up},
                    {"added_tokens", added}};
  return all.dump();
}

SentencePieceOptions options_from(const std::string& text, const std::string& source) {
  const Json json = parse_json(text, source);
  const JsonField root(json, source);
  SentencePieceOptions options{
      .ends = {.bos = root.at("add_bos_token").boolean(), .eos = root.at("add_eos_token").boolean()},
      .order = one_of<PieceOrder>(root.at("order"), kOrders),
      .cleaning = one_of<TextCleaning>(root.at("cleaning"), kCleanings),
      .eos_before_pair = root.at("eos_before_pair").boolean(),
      .blank_once = root.at("blank_once").boolean(),
      .blank_if_none = root.at("blank_if_none").boolean(),
      .cleans_up = root.at("cleans_up").boolean()};
  options.added = read_added_tokens(root.at("added_tokens"));
  return options;
}

}  // namespace qkv::text
