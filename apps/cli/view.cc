// qkv view: the studio in a browser.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "browser.h"
#include "commands.h"
#include "file/live_engine.h"
#include "file/view_page.h"
#include "interrupts.h"
#include "qkv/api/models.h"
#include "qkv/api/questions.h"
#include "qkv/api/studio.h"
#include "qkv/files.h"
#include "server/access.h"
#include "server/pages.h"
#include "server/studio_server.h"

namespace qkv::cli {
namespace {

constexpr double kLongestAnswer = 600;  // seconds

struct ViewFlags {
  StudioOptions studio;
  std::string host = "127.0.0.1";
  int port = 0;
  std::string file;
  std::string frame;
  bool stays_closed = false;
  bool describes = false;
};

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

void serve(const Asked<ViewFlags>& asked) {
  StudioOptions opened = asked.studio;
  opened.limits.seconds = kLongestAnswer;
  Studio studio(opened);
  const auto ask = [&studio](std::string_view name, std::string_view request, const StudioWatch& watch) {
    return studio.ask(name, request, watch);
  };
  studio::StudioServerOptions options{.host = asked.host, .port = asked.port};
  options.is_light = Studio::is_light;
  options.read_model = studio::box_model;
  studio::StudioServer server(ask, studio::built_pages(), options);
  if (!studio::is_loopback(asked.host)) {
    const std::string& root = opened.root;
    asked.how.careful("other machines reach this too. Whoever has the address reads " +
                      (root.empty() ? "the files that you can; --root DIR keeps them to one folder."
                                    : "what is below " + root + "."));
  }
  const InterruptWatch watch;
  server.start();
  print(server.url() + "\n");
  flush_output();
  if (reader_is_gone()) throw Error("nobody reads the address: standard output is closed");
  if (::isatty(STDERR_FILENO) == 1) asked.how.say("Ctrl-C ends it");
  if (!asked.stays_closed) open_in_browser(server.url());
  wait_for_interrupt();
  end_soon();
  server.stop();
}

void write_page(const char* kind, const std::string& file, const std::string& page) {
  write_file(file, page);
  print(fmt::format("{:<10}{}, {:.1f} MB\n", kind, file, static_cast<double>(page.size()) / 1e6));
}

void run_view(const Asked<ViewFlags>& asked, const Given& /*all*/) {
  if (asked.describes) return print(questions_as_json());
  // Of a studio that is served, quantised weights stay as they lie in the file, so that it is there at once.
  const auto shown = model_numbers_named(asked.studio.dtype).value_or(ModelNumbers::f32);
  const OpenedModel model = require_sound(asked.studio, asked.file.empty() ? ModelNumbers::file : shown);
  studio::require_pages();
  if (!asked.frame.empty()) return write_page("frame", asked.frame, studio::frame_page());
  if (!asked.file.empty()) return write_page("page", asked.file, studio::view_page(asked.studio, model));
  serve(asked);
}

Fields<ViewFlags> fields_of_view() {
  using A = ViewFlags;
  Fields<A> fields;
  fields.add(&A::studio, studio_fields());
  fields.add(&A::host, {.name = "host",
                        .form = "HOST",
                        .meaning = "Address to listen at; 127.0.0.1 is this machine alone",
                        .example = "0.0.0.0"});
  fields.add(&A::port, {.name = "port",
                        .form = "N",
                        .meaning = "Port to listen at",
                        .least = 0,
                        .most = 65535,
                        .otherwise = "a free one"});
  FieldInfo page = Fields<PageRequest>(page_fields()).info("export");
  page.meaning += "; a long text is not in it";
  page.file = FileUse::written;
  fields.add(&A::file, std::move(page));
  fields.add(&A::frame, {.name = "frame",
                         .form = "FILE.html",
                         .meaning = "Write the pages for a frame of another page, which answers what they ask "
                                    "(docs/studio.md)",
                         .ending = ".html",
                         .file = FileUse::written,
                         .example = "frame.html"});
  fields.add(&A::stays_closed, {.name = "no_open", .meaning = "Open no browser"});
  fields.add(&A::describes,
             {.name = "describe", .meaning = "Print all questions with their fields and replies as JSON"});
  fields.exclude({"host", "port", "no_open"}, {"export", "frame", "describe"}, "nothing is served");
  fields.exclude({"root", "file"}, {"export"}, "a page by itself reads no files");
  fields.exclude({"export"}, {"frame"}, "one page is written");
  fields.exclude({"model", "dtype", "text", "file", "mask", "root"}, {"frame"}, "the page around it brings them");
  fields.exclude({"model", "dtype", "text", "file", "mask", "root", "export", "frame"}, {"describe"},
                 "all questions are printed");
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
               asked(fields_of_view(), {}), run_view);
}

}  // namespace qkv::cli
