#include "file/studio_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "file/live_engine.h"
#include "qkv/api/about.h"

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
const AboutExample* example_of(const AboutReply& about, const Request& reading) {
  const auto is = [&](std::string_view field, const FieldValue& value) {
    const auto found = reading.find(field);
    return found != reading.end() && found->second == value;
  };
  for (const AboutModel& model : about.models) {
    if (!is("model", model.name)) continue;
    for (const AboutExample& one : model.examples) {
      if (is("text", one.text) || (one.example && is("example", *one.example))) return &one;
    }
  }
  return nullptr;
}

// The first head with a pattern, as the page would choose it.
ShownHead telling_head(const HeadsReply& heads) {
  constexpr std::array<std::string_view, 3> kPlain = {"mixed", "broad", "-"};
  const HeadsSite& site = heads.sites.front();
  const auto is_telling = [&](const HeadsClass& one) { return std::ranges::find(kPlain, one.word) == kPlain.end(); };
  const auto found = std::ranges::find_if(site.classes, is_telling);
  if (found == site.classes.end()) return {.site = site.site};
  return {.site = site.site, .layer = found->layer, .head = found->head};
}

// The models that a reader can choose: those of the file's engine, and those that its replies show.
void keep_models(Frozen& frozen, const PageFile& file) {
  const std::set<std::string> shown = frozen.values_of("model");
  auto about = frozen.added<AboutReply>("about", {});
  std::erase_if(about.models, [&](const AboutModel& model) {
    return !shown.contains(model.name) && !(file.live && file.live->models.contains(model.name));
  });
  frozen.put("about", {}, any_reply(std::move(about)));
}

}  // namespace

std::string start_of(const std::string& page, const Request& fields) {
  std::string start = "#/" + page;
  char before = '?';
  for (const auto& [name, value] : fields) {
    const auto* const text = std::get_if<std::string>(&value);
    start += before + name + "=" + escaped(text != nullptr ? *text : as_json(value));
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
  frozen.add("about", {});
  fill(frozen, page);
  PageFile file{.title = page.title, .starts = page.starts, .live = live_engine()};
  if (file.live) {
    const std::size_t bytes = page_file(built_pages(), file, Frozen(studio)).size() + base85_bytes(frozen.bytes());
    std::set<std::string> shown = frozen.values_of("model");
    if (opened.model != nullptr) shown.insert(opened.shown.model);
    add_models(*file.live, shown, page.most_bytes - std::min(bytes, page.most_bytes), studio);
  }
  keep_models(frozen, file);
  return page_file(built_pages(), file, frozen);
}

void add_bench_page(Frozen& frozen, StudioPage& page, const Request& bench) {
  freeze_step(frozen, bench);
  Request fields;
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
  for (const auto& [name, value] : bench) {
    const auto* found = std::ranges::find(kNames, name, &std::pair<std::string_view, std::string_view>::first);
    fields[found == kNames.end() ? name : std::string(found->second)] = value;
  }
  page.starts.push_back(start_of("step", fields));
}

void add_model_pages(Frozen& frozen, StudioPage& page, const Request& reading, const std::optional<ShownHead>& head,
                     std::optional<std::int64_t> query, std::optional<std::size_t> most) {
  const HeadsReply& all = add_heads(frozen, reading);
  if (all.sites.empty()) return;
  const AboutExample* example = example_of(frozen.added<AboutReply>("about", {}), reading);
  const bool is_of_example = example != nullptr && !head;
  const ShownHead shown = is_of_example
                              ? ShownHead{.site = example->site, .layer = example->layer, .head = example->head}
                              : head.value_or(telling_head(all));
  if (is_of_example && !query) query = example->query;
  const Request chosen{{"site", shown.site}, {"layer", shown.layer}, {"head", shown.head}};
  if (most) {
    freeze_heads(frozen, reading, chosen, {.bytes = *most});
  } else {
    freeze_heads(frozen, reading, chosen);
  }
  const std::string name = fmt::format("{}.{}.{}", shown.site, shown.layer, shown.head);
  const Request fields = with(reading, {{"head", name}});
  page.starts.push_back(start_of("heads", fields));
  const HeadsSite& site = *std::ranges::find(all.sites, shown.site, &HeadsSite::site);
  const std::int64_t asking = query.value_or(std::ssize(site.queries) - 1);
  freeze_step(frozen, with(with(reading, chosen), {{"query", asking}}),
              most ? FileBounds{.bytes = *most} : FileBounds{});
  page.starts.push_back(start_of("step", with(fields, {{"q", asking}})));
}

}  // namespace qkv::studio
