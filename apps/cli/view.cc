// qkv view: the studio in a browser.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "browser.h"
#include "commands.h"
#include "common_options.h"
#include "file/live_engine.h"
#include "file_places.h"
#include "misuse.h"
#include "output.h"
#include "qkv/api/studio.h"
#include "qkv/error.h"
#include "qkv/explain.h"
#include "qkv/files.h"
#include "qkv/mask.h"
#include "qkv/model/box.h"
#include "server/access.h"
#include "server/pages.h"
#include "server/studio_server.h"
#include "studio_page.h"
#include "walk_progress.h"

namespace qkv::cli {
namespace {

constexpr std::string_view kCommand = "qkv view";
constexpr double kLongestAnswer = 600;  // seconds

struct ViewArguments {
  StudioOptions studio;
  std::string host = "127.0.0.1";
  int port = 0;
  std::string file;
  std::string frame;
  bool stays_closed = false;
  bool describes = false;
};

void require_model(const std::string& model) {
  try {
    if (std::filesystem::exists(trained_model_path(model))) return;
  } catch (const Error& error) {
    refuse("MODEL", error.what());
  }
  misuse("MODEL", "a model of the box, a file or a folder", "\"" + model + "\", which is not there");
}

// The studio reads plain files alone, and a pipe that nobody writes to would hold the command up.
void require_file(const std::string& file) {
  std::error_code none;
  const auto found = std::filesystem::status(file, none);
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found) &&
      !std::filesystem::is_directory(found)) {
    refuse("--file", "cannot read " + file + ": expected a file, got a pipe or a device");
  }
  try {
    require_readable(file);
  } catch (const Error& error) {
    refuse("--file", error.what());
  }
}

void check(const StudioOptions& options) {
  if (!options.model.empty()) require_model(options.model);
  if (!options.file.empty()) require_file(options.file);
  if (!options.root.empty() && !std::filesystem::is_directory(options.root)) {
    misuse("--root", "a folder", "\"" + options.root + "\"");
  }
  if (!options.mask.empty()) static_cast<void>(parse_mask(options.mask));
}

void wait_for_interrupt() {
  constexpr int kMilliseconds = 100;  // where another thread took the signal
  while (!InterruptWatch::interrupted()) ::poll(nullptr, 0, kMilliseconds);
}

// What does not end when it is told to is left behind: nothing of it would be saved.
void end_soon() {
  std::thread([] {
    constexpr std::chrono::milliseconds kPatience{1500};
    std::this_thread::sleep_for(kPatience);
    std::_Exit(kSuccess);
  }).detach();
}

void serve(const ViewArguments& arguments) {
  StudioOptions opened = arguments.studio;
  opened.limits.seconds = kLongestAnswer;
  Studio studio(opened);
  const auto ask = [&studio](std::string_view name, std::string_view request, const StudioWatch& watch) {
    return studio.ask(name, request, watch);
  };
  studio::StudioServerOptions options{.host = arguments.host, .port = arguments.port};
  options.is_light = Studio::is_light;
  options.read_model = studio::box_model;
  studio::StudioServer server(ask, studio::built_pages(), options);
  if (!studio::is_loopback(arguments.host)) {
    complain(kCommand, arguments.studio.root.empty()
                           ? "careful: other machines reach this too. Whoever has the address reads the files that you "
                             "can; --root DIR keeps them to one folder."
                           : "careful: other machines reach this too. Whoever has the address reads what is below " +
                                 arguments.studio.root + ".");
  }
  const InterruptWatch watch;
  server.start();
  print(server.url() + "\n");
  flush_output();
  if (reader_is_gone()) throw Error("nobody reads the address: standard output is closed");
  if (::isatty(STDERR_FILENO) == 1) complain(kCommand, "Ctrl-C ends it");
  if (!arguments.stays_closed) open_in_browser(server.url());
  wait_for_interrupt();
  end_soon();
  server.stop();
}

// The mask as the page Patterns asks for it.
void add_mask_page(studio::Frozen& frozen, StudioPage& page, const std::string& mask) {
  constexpr int kPlainLength = 512;
  frozen.add("mask", {{"mask", mask}, {"tq", kPlainLength}, {"tk", kPlainLength}});
  page.starts.push_back(start_of("patterns/mask", {{"mask", mask}}));
}

// What the model reads: the text, or its first example.
studio::Request reading_of(const StudioOptions& options, const studio::Request& about) {
  if (!options.text.empty()) return {{"model", options.model}, {"text", options.text}};
  for (const studio::Request& model : about["models"]) {
    if (model["name"] != options.model || model["examples"].empty()) continue;
    const studio::Request& example = model["examples"][0];
    if (!example["text"].get<std::string>().empty()) return {{"model", options.model}, {"text", example["text"]}};
    return {{"model", options.model}, {"example", example["example"]}};
  }
  misuse("--text", "what the model reads", "none");
}

void fill_view(studio::Frozen& frozen, StudioPage& page) {
  const StudioOptions& options = page.studio;
  if (!options.mask.empty()) add_mask_page(frozen, page, options.mask);
  if (!options.model.empty()) {
    const studio::Request about = frozen.add("about", studio::Request::object());
    add_model_pages(frozen, page, reading_of(options, about), {}, std::nullopt);
    return;
  }
  studio::Request bench = studio::Request::object();
  if (!options.text.empty()) bench = {{"tokens", options.text}, {"seed", ExplainOptions{}.seed}};
  add_bench_page(frozen, page, bench);
}

void export_to(const ViewArguments& arguments) {
  if (!arguments.studio.file.empty()) {
    refuse("--file", "cannot be combined with --export: a long text is computed while it is looked at");
  }
  check_files({{"--model", arguments.studio.model}}, {{"--export", arguments.file}});
  const std::string& shown = arguments.studio.model.empty() ? arguments.studio.text : arguments.studio.model;
  const std::string page =
      studio_page({.studio = arguments.studio, .title = shown.empty() ? "Attention" : shown}, fill_view);
  write_file(arguments.file, page);
  print(fmt::format("page      {}, {:.1f} MB\n", arguments.file, static_cast<double>(page.size()) / 1e6));
}

// The pages without a reply and without an engine: who shows them answers.
void write_frame(const std::string& path) {
  qkv::require_writable(path);
  Studio asked_nothing;
  const studio::Frozen none(asked_nothing);
  const std::string page =
      studio::page_file(studio::built_pages(), {.title = "qkv", .starts = {}, .host = "qkv behind this frame"}, none);
  write_file(path, page);
  print(fmt::format("frame     {}, {:.1f} MB\n", path, static_cast<double>(page.size()) / 1e6));
}

void run_view(ViewArguments& arguments, const Given& /*all*/) {
  if (arguments.describes) return print(studio_as_json());
  check(arguments.studio);
  studio::require_pages();
  if (!arguments.frame.empty()) return write_frame(arguments.frame);
  arguments.file.empty() ? serve(arguments) : export_to(arguments);
}

Fields<StudioOptions> fields_of_studio() {
  Fields<StudioOptions> fields;
  const auto add = [&](std::string StudioOptions::* place, const char* name, const char* form, const char* meaning) {
    fields.add(place, {.name = name, .form = form, .meaning = meaning});
  };
  add(&StudioOptions::model, "model", "MODEL", "A model of the box, a file of qkv's, or a folder of others");
  add(&StudioOptions::text, "text", "TEXT", "What it reads first");
  add(&StudioOptions::file, "file", "FILE", "A long text, for the page Far");
  add(&StudioOptions::mask, "mask", "EXPR", "A mask to look at first");
  add(&StudioOptions::root, "root", "DIR",
      "Read files below this folder alone, for whoever has the address [all that you can read]");
  fields.give_examples({{"model", "induction"},
                        {"text", "abcxyzab"},
                        {"file", "book.txt"},
                        {"mask", "causal & window(512)"},
                        {"root", "."}});
  return fields;
}

Fields<ViewArguments> fields_of_view() {
  using A = ViewArguments;
  const std::vector<std::string> not_served{"export", "frame", "describe"};
  Fields<A> fields;
  fields.add(&A::studio, fields_of_studio());
  fields.add(&A::host, {.name = "host",
                        .form = "HOST",
                        .meaning = "Address to listen at; 127.0.0.1 is this machine alone",
                        .excludes = not_served});
  fields.add(&A::port, {.name = "port",
                        .form = "N",
                        .meaning = "Port to listen at",
                        .least = 0,
                        .most = 65535,
                        .excludes = not_served,
                        .fallback = "a free one"});
  fields.add(&A::file, {.name = "export",
                        .form = "FILE.html",
                        .meaning = "Write one file that works without qkv and without network",
                        .excludes = {"root", "frame", "describe"}});
  fields.add(&A::frame, {.name = "frame",
                         .form = "FILE.html",
                         .meaning = "Write the pages for a frame of another page, which answers what they ask "
                                    "(docs/studio.md)",
                         .excludes = {"model", "text", "file", "mask", "root", "describe"}});
  fields.add(&A::stays_closed, {.name = "no_open", .meaning = "Open no browser", .excludes = not_served});
  fields.add(&A::describes, {.name = "describe",
                             .meaning = "Print all questions of the studio, with their fields, as JSON",
                             .excludes = {"model", "text", "file", "mask", "root"}});
  fields.give_examples({{"host", "0.0.0.0"}, {"export", "studio.html"}, {"frame", "frame.html"}});
  return fields;
}

}  // namespace

void add_view(Commands& commands) {
  commands.add({.name = "view",
                .summary = "The studio: attention in the browser, under your hand",
                .group = "Look inside",
                .footer = "Prints the address, which nobody guesses, and serves it until Ctrl-C.\n"
                          "Examples:\n  qkv view\n  qkv view induction --text abcxyzab\n"
                          "  qkv view --mask \"causal & window(512)\"\n"
                          "  qkv view induction --text abcxyzab --export induction.html",
                .places = {"model"}},
               fields_of_view(), run_view);
}

}  // namespace qkv::cli
