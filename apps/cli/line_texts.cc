#include "line_texts.h"

#include "lines.h"
#include "misuse.h"

namespace qkv::cli {

HeadTexts texts_of_lines(const TextModel& trained, const std::string& option, const std::string& path) {
  return of_option(option, [&] {
    const Texts lines = lines_of(path, EmptyLines::left_out);
    try {
      return head_texts(trained, lines.texts);
    } catch (const InvalidArgument& error) {
      const auto place = lines.place_of(error.argument());
      if (!place) throw;
      misuse(*place, error.expected(), error.got());
    }
  });
}

}  // namespace qkv::cli
