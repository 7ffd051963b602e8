#include "asked.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "command.h"

namespace qkv::cli {

void Manner::say(const std::string& what) const { complain(command->full_name(), command->in_options(what)); }

Saying Manner::saying() const {
  return {.caution =
              [this](const std::string& what) {
                careful(what);
                cautions_->push_back(what);
              },
          .doing = [line = std::make_shared<Progress>()](const std::string& what) { line->show(what); }};
}

Fields<Manner> manner_fields(std::initializer_list<std::string_view> names, const std::string& group) {
  using M = Manner;
  Fields<M> fields;
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  const auto add = [&](auto place, FieldInfo info) {
    if (!has(info.name)) return;
    info.group = group;
    fields.add(place, std::move(info));
  };
  const std::map<std::string, std::string> one_thing = {{"json", kOneThing}};
  FieldInfo json{.name = "json", .meaning = "Print JSON"};
  if (has("html")) {
    json.excludes = {"html=-"};
    json.reasons = {{"html=-", kOneThing}};
  }
  add(&M::json, std::move(json));
  add(&M::quiet, {.name = "quiet", .meaning = "Print nothing", .excludes = {"json"}, .reasons = one_thing});
  if (has("no_progress")) fields.add(&M::quiet, {.name = "quiet", .meaning = "Without progress", .group = group});
  add(&M::plot,
      {.name = "plot", .meaning = "Draw the chart in the terminal, too", .excludes = {"json"}, .reasons = one_thing});
  add(&M::page, {.name = "html",
                 .form = "FILE",
                 .meaning = "Write one self-contained page; `-` prints it",
                 .ending = ".html",
                 .file = FileUse::written,
                 .example = "page.html"});
  if (has("pictures")) fields.add(&M::pictures, picture_fields(group));
  if (has("folders")) fields.add(&M::pictures, folder_fields(group));
  add(&M::color, {.name = "color",
                  .form = "WHEN",
                  .meaning = "In the terminal: auto, true, 256 or never",
                  .words = {"auto", "true", "256", "never"},
                  .excludes = {"json"}});
  add(&M::width, {.name = "width",
                  .form = "N",
                  .meaning = "Columns to use",
                  .least = 20,
                  .most = 1000,
                  .excludes = {"json"},
                  .otherwise = "the terminal's, or 80"});
  add(&M::threads, threads_field());
  return fields;
}

}  // namespace qkv::cli
