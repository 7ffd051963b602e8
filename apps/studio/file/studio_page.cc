#include "file/studio_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "file/live_engine.h"
#include "qkv/error.h"

namespace qkv::studio {
namespace {

// As the page writes its address.
std::string escaped(std::string_view text) {
  constexpr std::string_view kReadable = "-_.!~*'(),;:/@";
  std::string escaped;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
    if (character == ' ') {
      escaped += '+';
    } else if (is_plain || kReadable.find(character) != std::string_view::npos) {
      escaped += character;
    } else {
      escaped += fmt::format("%{:02X}", byte);
    }
  }
  return escaped;
}

// Where there is something to see in what the model reads, if it is an example of the studio's own.
const Request* example_of(const Request& about, const Request& reading) {
  for (const Request& model : about["models"]) {
    if (model["name"] != reading["model"]) continue;
    for (const Request& one : model["examples"]) {
      const bool is_text = reading.contains("text") && one["text"] == reading["text"];
      if (is_text || (reading.contains("example") && one["example"] == reading["example"])) return &one;
    }
  }
  return nullptr;
}

// The first head with a pattern, as the page would choose it.
Request telling_head(const Request& heads) {
  constexpr std::array<std::string_view, 3> kPlain = {"mixed", "broad", "-"};
  const Request& site = heads["sites"][0];
  Request chosen{{"site", site["site"]}, {"layer", 0}, {"head", 0}};
  for (const Request& one : site["classes"]) {
    if (std::ranges::find(kPlain, one["word"].get<std::string_view>()) != kPlain.end()) continue;
    chosen["layer"] = one["layer"];
    chosen["head"] = one["head"];
    break;
  }
  return chosen;
}

std::string name_of_head(const Request& head) {
  return fmt::format("{}.{}.{}", head["site"].get<std::string>(), head["layer"].get<std::int64_t>(),
                     head["head"].get<std::int64_t>());
}

// The models that a reader can choose: those of the file's engine, and those that its replies show.
void keep_models(Frozen& frozen, const PageFile& file) {
  const std::set<std::string> shown = frozen.values_of("model");
  frozen.change("about", Request::object(), [&](Request& about) {
    Request kept = Request::array();
    for (const Request& model : about["models"]) {
      const auto name = model["name"].get<std::string>();
      if (shown.contains(name) || (file.live && file.live->models.contains(name))) kept.push_back(model);
    }
    about["models"] = std::move(kept);
  });
}

}  // namespace

std::string start_of(const std::string& page, const Request& fields) {
  std::string start = "#/" + page;
  char before = '?';
  for (const auto& [name, value] : fields.items()) {
    start += before + name + "=" + escaped(value.is_string() ? value.get<std::string>() : value.dump());
    before = '&';
  }
  return start;
}

std::string studio_page(StudioPage page, const FillPage& fill) {
  require_pages();
  Studio studio(page.studio);
  const OpenedText& opened = page.opened;
  if (opened.model != nullptr) studio.keep(opened.shown.model, opened.model);
  if (opened.pass != nullptr) studio.keep(opened.shown, *opened.pass);
  Frozen frozen(studio);
  frozen.add("about", Request::object());
  fill(frozen, page);
  PageFile file{.title = page.title, .starts = page.starts, .live = live_engine()};
  if (file.live) {
    const std::size_t bytes = page_file(built_pages(), file, Frozen(studio)).size() + base85_bytes(frozen.bytes());
    add_models(*file.live, frozen.values_of("model"), page.most_bytes - std::min(bytes, page.most_bytes));
  }
  keep_models(frozen, file);
  return page_file(built_pages(), file, frozen);
}

void add_bench_page(Frozen& frozen, StudioPage& page, const Request& bench) {
  freeze_step(frozen, bench);
  Request fields = Request::object();
  // The address has its own names for what the page lets its reader change.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNames = {{{"tokens", "text"},
                                                                                    {"q", "Q"},
                                                                                    {"k", "K"},
                                                                                    {"v", "V"},
                                                                                    {"x", "X"},
                                                                                    {"w_q", "Wq"},
                                                                                    {"w_k", "Wk"},
                                                                                    {"w_v", "Wv"},
                                                                                    {"query", "q"}}};
  for (const auto& [name, value] : bench.items()) {
    const auto* found = std::ranges::find(kNames, name, &std::pair<std::string_view, std::string_view>::first);
    fields[found == kNames.end() ? name : std::string(found->second)] = value;
  }
  page.starts.push_back(start_of("step", fields));
}

void add_model_pages(Frozen& frozen, StudioPage& page, const Request& reading, Request head,
                     std::optional<std::int64_t> query, std::optional<std::size_t> most) {
  Request all;
  try {
    all = add_heads(frozen, reading);
  } catch (const InvalidArgument&) {
    return;
  }
  if (all["sites"].empty()) return;
  const Request about = frozen.add("about", Request::object());
  const Request* example = example_of(about, reading);
  if (example != nullptr && head.empty()) {
    head = {{"site", (*example)["site"]}, {"layer", (*example)["layer"]}, {"head", (*example)["head"]}};
    if (!query) query = (*example)["query"].get<std::int64_t>();
  }
  const Request chosen = head.empty() ? telling_head(all) : head;
  if (most) {
    freeze_heads(frozen, reading, chosen, {.bytes = *most});
  } else {
    freeze_heads(frozen, reading, chosen);
  }
  Request fields = reading;
  fields["head"] = name_of_head(chosen);
  page.starts.push_back(start_of("heads", fields));
  Request bench = reading;
  bench.update(chosen);
  const Request& site =
      *std::ranges::find(all["sites"], chosen["site"], [](const Request& one) { return one["site"]; });
  const std::int64_t asking = query.value_or(static_cast<std::int64_t>(site["queries"].size()) - 1);
  bench["query"] = asking;
  freeze_step(frozen, bench, most ? FileBounds{.bytes = *most} : FileBounds{});
  fields["q"] = asking;
  page.starts.push_back(start_of("step", fields));
}

}  // namespace qkv::studio
