// Any bytes as the files beside a model's weights, each behind a line "==> NAME <==": an error, or a tokenizer that
// cuts and joins texts, and options of texts and of writing.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "attempt.h"
#include "qkv/model/embed.h"
#include "qkv/model/generate.h"
#include "qkv/text/read_tokenizer.h"

namespace {

namespace fs = std::filesystem;
using qkv::fuzz::attempt;

constexpr std::string_view kBegin = "==> ";
constexpr std::string_view kEnd = " <==\n";
constexpr std::string_view kText = "The cat's <|im_start|>\tsat [SEP] \xC3\xA9 \xE6\x97\xA5 \xF0\x9F\x99\x82 \xFF.";

// One folder for all inputs of a process, emptied for each.
const fs::path& folder() {
  static const fs::path kFolder = [] {
    std::string name = fs::temp_directory_path() / "qkv-folder-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return fs::path(name);
  }();
  return kFolder;
}

// "config.json", "1_Pooling/config.json".
bool is_usual(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzDLNPT0123456789_.";
  const std::string_view file = name.substr(name.find('/') == std::string_view::npos ? 0 : name.find('/') + 1);
  const std::string_view before = name.substr(0, name.size() - file.size());
  return !file.empty() && file.size() < 64 && file.front() != '.' && before.size() < 64 && !before.starts_with('.') &&
         file.find_first_not_of(kLetters) == std::string_view::npos &&
         before.find_first_not_of("abcdefghijklmnopqrstuvwxyzDLNPT0123456789_/") == std::string_view::npos;
}

void write_files(std::string_view bytes) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder())) fs::remove_all(entry.path());
  for (std::size_t begin = bytes.find(kBegin); begin != std::string_view::npos;) {
    bytes.remove_prefix(begin + kBegin.size());
    const std::size_t end = bytes.find(kEnd);
    if (end == std::string_view::npos) return;
    const std::string_view name = bytes.substr(0, end);
    bytes.remove_prefix(end + kEnd.size());
    begin = bytes.find(kBegin);
    if (!is_usual(name)) continue;
    const fs::path path = folder() / name;
    fs::create_directories(path.parent_path());
    if (!fs::is_directory(path)) std::ofstream(path, std::ios::binary) << bytes.substr(0, begin);
  }
}

void use(const qkv::Tokenizer& tokenizer) {
  const qkv::Encoding encoding = tokenizer.encode(kText, {.pair = "and so on"});
  for (std::size_t n = 0; n < encoding.ids.size(); ++n) {
    if (encoding.ids[n] < 0 || encoding.ids[n] >= tokenizer.size()) std::abort();
    if (encoding.offsets[n].begin > encoding.offsets[n].end || encoding.offsets[n].end > kText.size()) std::abort();
  }
  static_cast<void>(tokenizer.decode(encoding.ids));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  write_files({reinterpret_cast<const char*>(data), size});
  const std::string path = folder().string();
  attempt([&] {
    std::vector<std::string> cautions;
    use(*qkv::read_tokenizer(path, &cautions));
  });
  attempt([&] { static_cast<void>(qkv::embed_options_of(path)); });
  attempt([&] { static_cast<void>(qkv::draw_options_of(path)); });
  attempt([&] { static_cast<void>(qkv::unheeded_in_generation(path)); });
  return 0;
}
