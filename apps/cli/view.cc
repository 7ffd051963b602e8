// qkv view: the studio in a browser.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "browser.h"
#include "commands.h"
#include "file/live_engine.h"
#include "file/view_page.h"
#include "file_places.h"
#include "misuse.h"
#include "output.h"
#include "qkv/api/models.h"
#include "qkv/api/questions.h"
#include "qkv/api/studio.h"
#include "qkv/error.h"
#include "qkv/files.h"
#include "qkv/mask.h"
#include "server/access.h"
#include "server/pages.h"
#include "server/studio_server.h"
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

// The studio reads plain files alone, and a pipe that nobody writes to would hold the command up.
void require_file(const std::string& file) {
  std::error_code none;
  const auto found = std::filesystem::status(file, none);
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found) &&
      !std::filesystem::is_directory(found)) {
    throw Error("cannot read " + file + ": expected a file, got a pipe or a device");
  }
  require_readable(file);
}

void check(const StudioOptions& options) {
  // Quantised weights stay as they lie in the file, so that the address comes at once.
  if (!options.model.empty()) static_cast<void>(open_model(options.model, {}, QuantisedWeights::as_stored));
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

void export_to(const ViewArguments& arguments) {
  check_files({{"--model", arguments.studio.model}}, {{"--export", arguments.file}});
  const std::string page = studio::view_page(arguments.studio);
  write_file(arguments.file, page);
  print(fmt::format("page      {}, {:.1f} MB\n", arguments.file, static_cast<double>(page.size()) / 1e6));
}

void write_frame(const std::string& path) {
  qkv::require_writable(path);
  const std::string page = studio::frame_page();
  write_file(path, page);
  print(fmt::format("frame     {}, {:.1f} MB\n", path, static_cast<double>(page.size()) / 1e6));
}

void run_view(ViewArguments& arguments, const Given& /*all*/) {
  if (arguments.describes) return print(questions_as_json());
  check(arguments.studio);
  studio::require_pages();
  if (!arguments.frame.empty()) return write_frame(arguments.frame);
  arguments.file.empty() ? serve(arguments) : export_to(arguments);
}

Fields<ViewArguments> fields_of_view() {
  using A = ViewArguments;
  Fields<A> fields;
  fields.add(&A::studio, studio_fields());
  fields.add(&A::host,
             {.name = "host", .form = "HOST", .meaning = "Address to listen at; 127.0.0.1 is this machine alone"});
  fields.add(&A::port, {.name = "port",
                        .form = "N",
                        .meaning = "Port to listen at",
                        .least = 0,
                        .most = 65535,
                        .otherwise = "a free one"});
  Fields<PageRequest> of_page = page_fields();
  FieldInfo page = of_page.info("export");
  page.meaning += "; a long text is not in it";
  fields.add(&A::file, std::move(page));
  fields.add(&A::frame, {.name = "frame",
                         .form = "FILE.html",
                         .meaning = "Write the pages for a frame of another page, which answers what they ask "
                                    "(docs/studio.md)"});
  fields.add(&A::stays_closed, {.name = "no_open", .meaning = "Open no browser"});
  fields.add(&A::describes,
             {.name = "describe", .meaning = "Print all questions with their fields and replies as JSON"});
  fields.exclude({"host", "port", "no_open"}, {"export", "frame", "describe"}, "nothing is served");
  fields.exclude({"root", "file"}, {"export"}, "a page by itself reads no files");
  fields.exclude({"export"}, {"frame"}, "one page is written");
  fields.exclude({"model", "text", "file", "mask", "root"}, {"frame"}, "the page around it brings them");
  fields.exclude({"model", "text", "file", "mask", "root", "export", "frame"}, {"describe"},
                 "all questions are printed");
  fields.give_examples({{"host", "0.0.0.0"}, {"frame", "frame.html"}});
  return fields;
}

}  // namespace

void add_view(Commands& commands) {
  commands.add({.name = "view",
                .group = "Look inside",
                .footer = "Prints the address, which nobody guesses, and serves it until Ctrl-C.\n"
                          "Examples:\n  qkv view\n  qkv view induction --text abcxyzab\n"
                          "  qkv view --mask \"causal & window(512)\"\n"
                          "  qkv view induction --text abcxyzab --export induction.html",
                .places = {"model"}},
               fields_of_view(), run_view);
}

}  // namespace qkv::cli
