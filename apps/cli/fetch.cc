// qkv fetch: a model's folder from a hub.
#include "qkv/hub/fetch.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.h"
#include "misuse.h"
#include "output.h"
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

nlohmann::ordered_json json_of(const HubModel& model) {
  nlohmann::ordered_json json{{"name", model.name}, {"revision", model.revision}};
  for (const HubFile& file : model.files) {
    json["files"].push_back({{"name", file.name}, {"size", file.size}, {"hash", file.hash}});
  }
  return json;
}

void print_files(const FetchArguments& arguments, const HubModel& model) {
  if (arguments.json) return print(json_of(model).dump(2) + "\n");
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
    nlohmann::ordered_json json = json_of(report.model);
    json["folder"] = folder;
    json["received"] = report.received;
    json["was_there"] = report.was_there;
    return print(json.dump(2) + "\n");
  }
  const std::string there = report.was_there > 0 ? fmt::format(", {} were there", report.was_there) : "";
  print(fmt::format("{}: {} files of {} at {:.12}{}; {} came\n", folder, report.model.files.size(), report.model.name,
                    report.model.revision, there, size_text(report.received)));
}

// What the library says of its arguments, said of ours.
template <class Body>
auto of_fetch(const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    misuse(error.argument() == "name" ? "NAME" : "--" + error.argument(), error.expected(), error.got());
  }
}

void run_fetch(const FetchArguments& arguments) {
  const FetchOptions options = fetch_options_of(arguments);
  if (arguments.list) return print_files(arguments, of_fetch([&] { return look_up_model(arguments.name, options); }));
  const std::string folder = folder_of(arguments);
  try {
    report(arguments, of_fetch([&] { return fetched(arguments, options, folder); }), folder);
  } catch (const FetchStopped& stopped) {
    complain("qkv fetch", stopped.what());
    throw Exit{kInterrupted};
  }
}

}  // namespace

void add_fetch(CLI::App& app) {
  CLI::App* command = app.add_subcommand("fetch", "A model's folder from a hub: resumed, checked");
  command->group("Learn");
  command->footer(
      "Files that are there are left alone; what was cut is gone on with.\n"
      "HF_ENDPOINT names another hub, HF_TOKEN is a token for it.\n"
      "Examples:\n  qkv fetch sentence-transformers/all-MiniLM-L6-v2\n"
      "  qkv fetch openai-community/gpt2 --out models/gpt2\n"
      "  qkv fetch Qwen/Qwen3-0.6B --list");
  const auto arguments = std::make_shared<FetchArguments>();
  command->add_option("NAME", arguments->name, "The model's name on the hub, such as owner/name")->required();
  command->add_option("--out", arguments->out, "Its folder here [./ and what follows the slash]")->type_name("DIR");
  command->add_option("--revision", arguments->revision, "A branch, a tag or a commit")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--hub", arguments->hub, "Another hub [HF_ENDPOINT, or https://huggingface.co]")
      ->type_name("URL");
  command->add_flag("--list", arguments->list, "Fetch nothing: the files and their sizes");
  auto* json = command->add_flag("--json", arguments->json, "Print JSON");
  command->add_flag("--quiet", arguments->quiet, "Without progress")->excludes(json);
  command->callback([arguments] { run_fetch(*arguments); });
}

}  // namespace qkv::cli
