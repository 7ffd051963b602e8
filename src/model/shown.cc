#include "qkv/model/shown.h"

#include <algorithm>

#include "qkv/error.h"
#include "qkv/model/chat.h"
#include "qkv/model/speech.h"

namespace qkv {
namespace {

class ShownReader {
 public:
  ShownReader(const TextModel& model, const Shown& shown, std::string_view function)
      : model_(model), shown_(shown), function_(function) {}

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
  [[nodiscard]] std::string what_came() const {
    return shown_.text      ? "a text"
           : has_picture()  ? "a picture"
           : shown_.sound   ? "a sound"
           : shown_.example ? "an example"
                            : "none";
  }
  [[nodiscard]] std::string_view argument_that_came() const {
    return shown_.text || (!has_picture() && !shown_.sound && !shown_.example) ? "text"
           : has_picture()                                                     ? "picture"
           : shown_.sound                                                      ? "sound"
                                                                               : "example";
  }
  [[nodiscard]] std::string what_it_reads() const {
    return model_.traits().reads_sound ? "a sound" : reads_pictures() ? "a picture" : "a text";
  }

  [[noreturn]] void refuse_what_came() const {
    const char* const why = shown_.sound && !model_.traits().reads_sound ? ": this model reads no sound"
                            : has_picture() && !reads_pictures()         ? ": this model reads no images"
                            : model_.has_examples()                      ? ", or an example"
                                                                         : "";
    refuse(argument_that_came(), what_it_reads() + why, what_came());
  }

  void require_one() const {
    const bool is_pair = model_.traits().is_pair;
    if (shown_.example && (shown_.text || has_picture())) refuse("example", "it without a text or a picture", "both");
    if (is_pair && shown_.text && has_picture()) {
      refuse("text", "none beside a picture: `captions` take it", "one");
    }
    const bool is_lone = !shown_.text && !has_picture() && !shown_.sound && !shown_.example;
    if (!shown_.messages.empty() && !is_lone) refuse("messages", "none beside " + what_came(), "some");
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
};

}  // namespace

ReadExample read_shown(const TextModel& model, const Shown& shown, std::string_view function) {
  return ShownReader(model, shown, function).read();
}

}  // namespace qkv
