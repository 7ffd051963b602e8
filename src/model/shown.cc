#include "qkv/model/shown.h"

#include <algorithm>

#include "qkv/error.h"
#include "qkv/model/chat.h"
#include "qkv/model/speech.h"

namespace qkv {
namespace {

// An argument, and what errors call it.
struct Came {
  std::string argument, what;
};

std::vector<Came> all_that_came(const Shown& shown) {
  std::vector<Came> all;
  if (shown.text) all.push_back({"text", "a text"});
  if (!shown.picture.empty()) all.push_back({"picture", "a picture"});
  if (shown.sound) all.push_back({"sound", "a sound"});
  if (shown.example) all.push_back({"example", "an example"});
  if (!shown.messages.empty()) all.push_back({"messages", "a conversation"});
  return all;
}

class ShownReader {
 public:
  ShownReader(const TextModel& model, const Shown& shown, std::string_view function)
      : model_(model), shown_(shown), function_(function), came_(all_that_came(shown)) {}

  [[nodiscard]] ReadExample read() const {
    require_one();
    if (!shown_.messages.empty()) return conversation();
    if (model_.traits().reads_sound) {
      if (!shown_.sound) refuse_what_came();
      return {.example = example_of_sound(model_, *shown_.sound)};
    }
    if (shown_.sound) refuse_what_came();
    if (shown_.example) return {.example = example_of_task()};
    if (is_of_picture()) return {.example = of_picture()};
    if (has_picture() || !shown_.text) refuse_what_came();
    return {.example = model_.example_of(*shown_.text)};
  }

 private:
  [[noreturn]] void refuse(std::string_view argument, const std::string& expected, const std::string& got) const {
    throw InvalidArgument(function_, argument, expected, got);
  }

  [[nodiscard]] bool has_picture() const { return !shown_.picture.empty(); }
  [[nodiscard]] std::string what_it_reads() const {
    if (model_.traits().reads_sound) return "a sound";
    return reads_pictures() ? "a picture" : "a text";
  }
  // Behind what it reads: why not what came, or what else may come.
  [[nodiscard]] std::string why_not() const {
    if (shown_.sound && !model_.traits().reads_sound) return ": this model reads no sound";
    if (has_picture() && !reads_pictures()) return ": this model reads no images";
    return model_.has_examples() ? ", or an example" : "";
  }

  [[noreturn]] void refuse_what_came() const {
    const auto [argument, what] = came_.empty() ? Came{"text", "none"} : came_.front();
    refuse(argument, what_it_reads() + why_not(), what);
  }

  void require_one() const {
    if (came_.size() < 2) return;
    if (model_.traits().is_pair && shown_.text && has_picture()) {
      refuse("text", "none beside a picture: `captions` take it", "one");
    }
    refuse(came_[1].argument, "none beside " + came_[0].what, came_[1].what);
  }

  [[nodiscard]] Example example_of_task() const {
    if (!model_.has_examples()) {
      refuse("example", what_it_reads() + " in its place, since this model comes without examples",
             std::to_string(*shown_.example));
    }
    return model_.examples().example(Split::test, *shown_.example);
  }

  [[nodiscard]] bool reads_pictures() const { return model_.lengths().image_side > 0; }
  [[nodiscard]] bool is_of_picture() const { return reads_pictures() && !(model_.traits().is_pair && shown_.text); }

  // A captioner begins to write; else the picture stands alone, unless, of two towers, a caption comes to it.
  [[nodiscard]] Example of_picture() const {
    if (!has_picture()) refuse_what_came();
    Example example;
    example.image = model_.image_of(shown_.picture);
    if (model_.traits().is_pair || model_.traits().sees) return example;
    example.tokens = {model_.tokenizer().id("<s>")};
    example.labels.resize(1);
    example.scored.resize(1);
    return example;
  }

  [[nodiscard]] ReadExample conversation() const {
    const ChatTokens read = ChatForm(model_).read(shown_.messages, ChatEnd::for_answer);
    const auto length = std::ssize(read.ids);
    const std::optional<std::int64_t> most = model_.positions();
    if (most && length > *most) {
      refuse("messages", "a conversation of at most " + std::to_string(*most) + " tokens, for which it has positions",
             std::to_string(length));
    }
    ReadExample shown;
    shown.example.tokens = read.ids;
    shown.example.labels.resize(read.ids.size());
    shown.example.scored.resize(read.ids.size());
    for (std::size_t n = 0; n < read.ids.size(); ++n) shown.sources.push_back(source_in(read, shown_.messages, n));
    return shown;
  }

  const TextModel& model_;
  const Shown& shown_;
  std::string_view function_;
  std::vector<Came> came_;
};

}  // namespace

ReadExample read_shown(const TextModel& model, const Shown& shown, std::string_view function) {
  return ShownReader(model, shown, function).read();
}

}  // namespace qkv
