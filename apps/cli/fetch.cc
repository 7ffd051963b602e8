// qkv fetch: a model's folder from a hub.
#include "qkv/hub/fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "commands.h"
#include "common_options.h"
#include "misuse.h"
#include "output.h"
#include "qkv/api/fetch.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

struct FetchArguments {
  std::string name;
  std::string out;
  std::optional<std::string> hub;
  std::string revision = "main";
  bool list = false;
  bool json = false;
  bool quiet = false;
};

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

FetchOptions fetch_options_of(const FetchArguments& arguments) {
  FetchOptions options{.revision = arguments.revision, .token = environment("HF_TOKEN")};
  if (const std::string hub = environment("HF_ENDPOINT"); !hub.empty()) options.hub = hub;
  if (arguments.hub) options.hub = *arguments.hub;
  return options;
}

std::string folder_of(const FetchArguments& arguments) {
  if (!arguments.out.empty()) return arguments.out;
  return "./" + arguments.name.substr(arguments.name.find('/') + 1);
}

std::string size_text(std::int64_t bytes) {
  if (bytes >= 1'000'000'000) return fmt::format("{:.2f} GB", static_cast<double>(bytes) / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
}

FetchFigures figures_of(const HubModel& model) {
  FetchFigures figures;
  figures.name = model.name;
  figures.revision = model.revision;
  for (const HubFile& file : model.files) figures.files.push_back({file.name, file.size, file.hash});
  return figures;
}

void print_files(const FetchArguments& arguments, const HubModel& model) {
  if (arguments.json) return print(reply_as_json(figures_of(model)));
  std::int64_t total = 0;
  for (const HubFile& file : model.files) {
    print(fmt::format("{:>10}  {}\n", size_text(file.size), file.name));
    total += file.size;
  }
  print(fmt::format("{:>10}  {} at {}\n", size_text(total), model.name, model.revision));
}

FetchReport fetched(const FetchArguments& arguments, const FetchOptions& options, const std::string& folder) {
  const InterruptWatch interrupts;
  WalkProgress progress(arguments.name, arguments.quiet ? Speech::off : Speech::on, WalkUnit::bytes);
  const FetchWatch watch = [&](const FetchProgress& at) {
    progress.show(at.done, at.total);
    return !InterruptWatch::interrupted();
  };
  return fetch_model(arguments.name, folder, options, watch);
}

void report(const FetchArguments& arguments, const FetchReport& report, const std::string& folder) {
  if (arguments.json) {
    FetchFigures figures = figures_of(report.model);
    figures.folder = folder;
    figures.received = report.received;
    figures.was_there = report.was_there;
    return print(reply_as_json(figures));
  }
  const std::string there = report.was_there > 0 ? fmt::format(", {} were there", report.was_there) : "";
  print(fmt::format("{}: {} files of {} at {:.12}{}; {} came\n", folder, report.model.files.size(), report.model.name,
                    report.model.revision, there, size_text(report.received)));
}

void run_fetch(FetchArguments& arguments, const Given& /*all*/) {
  const FetchOptions options = fetch_options_of(arguments);
  if (arguments.list) return print_files(arguments, look_up_model(arguments.name, options));
  const std::string folder = folder_of(arguments);
  try {
    report(arguments, fetched(arguments, options, folder), folder);
  } catch (const FetchStopped& stopped) {
    complain("qkv fetch", stopped.what());
    throw Exit{kInterrupted};
  }
}

Fields<FetchArguments> fields_of_fetch() {
  using A = FetchArguments;
  Fields<A> fields;
  fields.add(
      &A::name,
      {.name = "name", .form = "NAME", .meaning = "The model's name on the hub, such as owner/name", .required = true});
  fields.add(&A::out, {.name = "out", .form = "DIR", .meaning = "Its folder here [./ and what follows the slash]"});
  fields.add(&A::revision, {.name = "revision", .form = "NAME", .meaning = "A branch, a tag or a commit"});
  fields.add(&A::hub,
             {.name = "hub", .form = "URL", .meaning = "Another hub [HF_ENDPOINT, or https://huggingface.co]"});
  fields.add(&A::list, {.name = "list", .meaning = "Fetch nothing: the files and their sizes"});
  fields.add(&A::json, json_field());
  fields.add(&A::quiet, quiet_field("Without progress"));
  fields.give_examples(
      {{"name", "owner/name"}, {"out", "model"}, {"revision", "v1.0"}, {"hub", "https://hub.example.org"}});
  return fields;
}

}  // namespace

void add_fetch(Commands& commands) {
  commands.add({.name = "fetch",
                .summary = "A model's folder from a hub: resumed, checked",
                .group = "Models",
                .footer = "Files that are there are left alone; what was cut is gone on with.\n"
                          "HF_ENDPOINT names another hub, HF_TOKEN is a token for it.\n"
                          "Examples:\n  qkv fetch sentence-transformers/all-MiniLM-L6-v2\n"
                          "  qkv fetch openai-community/gpt2 --out models/gpt2\n"
                          "  qkv fetch Qwen/Qwen3-0.6B --list",
                .places = {"name"}},
               fields_of_fetch(), run_fetch);
}

}  // namespace qkv::cli
