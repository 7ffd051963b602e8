// A config.json as others write it, read word by word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace qkv::families {

/// A word of a config that nobody asked about.
struct UnreadWord {
  std::string place;            // "hidden_size", "text_config.hidden_size"
  std::string word;             // its last part
  const nlohmann::json* value;  // in the config, which must live on
};

/// A value that is here, as a config would have it.
using ConfigValue = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string>;

/// Every function throws Error "<path>: <word>: expected …, got …". Copies, and the objects inside, keep one record of
/// the words that were asked about: unread() gives the others.
class ConfigFile {
 public:
  /// Throws Error as files::read_json(), and naming the file if it is no JSON object.
  explicit ConfigFile(const std::string& path);
  /// An object inside of another; `path` names both.
  ConfigFile(nlohmann::json json, std::string path);
  /// Of a file that is not there.
  [[nodiscard]] static ConfigFile without_words(std::string path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const nlohmann::json& json() const noexcept { return *json_; }
  /// False for null too.
  [[nodiscard]] bool has(std::string_view word) const;
  /// True for null too.
  [[nodiscard]] bool contains(std::string_view word) const { return find(word) != nullptr; }
  [[nodiscard]] std::int64_t integer(std::string_view word) const;
  [[nodiscard]] std::int64_t integer(std::string_view word, std::int64_t otherwise) const;
  /// How many blocks there are, 1 to 16384: a wrong number must not cost minutes and gigabytes.
  [[nodiscard]] std::int64_t layers(std::string_view word) const;
  [[nodiscard]] std::int64_t layers(std::string_view word, std::int64_t otherwise) const;
  /// One, or a list of them; none where the word is not there.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view word) const;
  [[nodiscard]] double number(std::string_view word) const;
  [[nodiscard]] double number(std::string_view word, double otherwise) const;
  /// Nothing where the file says null; `otherwise` where it has no such word.
  [[nodiscard]] std::optional<double> number_or_null(std::string_view word, std::optional<double> otherwise) const;
  [[nodiscard]] bool flag(std::string_view word, bool otherwise) const;
  [[nodiscard]] std::string text(std::string_view word) const;
  [[nodiscard]] std::string text(std::string_view word, std::string_view otherwise) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view word) const;
  [[nodiscard]] std::vector<double> numbers(std::string_view word) const;
  /// All words that it has.
  [[nodiscard]] std::vector<std::string> words() const;
  [[nodiscard]] ConfigFile object(std::string_view word) const;
  [[nodiscard]] bool has_object(std::string_view word) const;
  [[nodiscard]] bool has_list(std::string_view word) const;
  /// The object of the word; one without words where it is null or not there.
  [[nodiscard]] ConfigFile object_or_none(std::string_view word) const;
  /// With the words of the other in place of its own. Both count as asked about.
  [[nodiscard]] ConfigFile updated(const ConfigFile& other) const;
  /// With this value of the word.
  [[nodiscard]] ConfigFile with(std::string_view word, const ConfigValue& value) const;
  /// The same of an object of these.
  [[nodiscard]] ConfigFile with(std::string_view word,
                                std::initializer_list<std::pair<const char*, ConfigValue>> object) const;
  /// With the value of `other` as that of `word`, where there is such a word: `transformers` takes some words by the
  /// names that other families have for them.
  [[nodiscard]] ConfigFile renamed(std::string_view word, std::string_view other) const;

  /// The words are known without being read: their objects, too.
  void mark_read(std::string_view word) const;
  /// Words that nobody asked about. Of an object that nobody asked about the words are not listed, but the object is;
  /// null counts as no word.
  [[nodiscard]] std::vector<UnreadWord> unread() const;
  /// The words that were asked about, by their places, whether they are there or not.
  [[nodiscard]] std::vector<std::string> asked() const { return {record_->asked.begin(), record_->asked.end()}; }
  /// The words of require(), by their places, and the value of each, as JSON.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& required() const { return record_->required; }
  /// Keeps a sentence for people: what of the file is read otherwise than it seems.
  void remark(std::string_view word, std::string_view sentence) const;
  [[nodiscard]] const std::vector<std::string>& remarks() const { return record_->remarks; }
  /// As it stands in the file, on one line, cut where it is long; "nothing" for a word that is not there.
  [[nodiscard]] std::string shown(std::string_view word) const;

  /// A word that must have this value, or not be there: another would change the computation.
  void require(std::string_view word, const ConfigValue& only) const;
  [[noreturn]] void refuse(std::string_view word, std::string_view expected) const;

 private:
  struct Record {
    std::set<std::string, std::less<>> asked;
    std::map<std::string, std::string, std::less<>> required;
    std::vector<std::string> remarks;
  };

  [[nodiscard]] const nlohmann::json& value(std::string_view word, std::string_view expected) const;
  // Null for a word that is not there.
  [[nodiscard]] const nlohmann::json* find(std::string_view word) const;
  [[nodiscard]] ConfigFile with_json(std::string_view word, nlohmann::json value) const;

  std::shared_ptr<const nlohmann::json> json_;
  std::string path_;
  std::string place_;  // of this object in the file: "", or "text_config."
  std::string other_;  // likewise of what updated() it
  std::shared_ptr<Record> record_ = std::make_shared<Record>();
};

}  // namespace qkv::families
