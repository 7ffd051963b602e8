// What a command is asked: the request of its question, and how its answer is given.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "output.h"
#include "pictures.h"
#include "progress.h"
#include "qkv/api/field.h"
#include "qkv/api/given.h"
#include "qkv/api/member.h"
#include "qkv/api/saying.h"
#include "terminal.h"

namespace qkv::cli {

struct Command;

/// Options that many commands have.
struct Manner {
  const Command* command = nullptr;  // that is run
  std::optional<int> threads;        // QKV_THREADS or all cores where it is not given
  bool json = false, quiet = false, plot = false;
  std::string page;  // "-": standard output; empty: none
  Pictures pictures;
  std::string color = "auto";
  std::optional<int> width;

  [[nodiscard]] TerminalOptions terminal() const { return terminal_options(color, width); }
  [[nodiscard]] Speech speech() const { return quiet ? Speech::off : Speech::on; }
  [[nodiscard]] bool prints_page() const { return page == "-"; }
  /// Whether a page or pictures were asked for.
  [[nodiscard]] bool wants_files() const { return !page.empty() || !pictures.empty(); }

  /// A line about the answer on standard error, whose fields, in backquotes, are said as options.
  void say(const std::string& what) const;
  void careful(const std::string& what) const { say("careful: " + what); }
  /// Cautions in such lines, and one line of what is done now. The manner must outlive it.
  [[nodiscard]] Saying saying() const;
  /// The cautions that were said so.
  [[nodiscard]] const std::vector<std::string>& cautions() const noexcept { return *cautions_; }
  /// The reply, with them where it has a place for them.
  template <class Reply>
  [[nodiscard]] Reply cautioned(Reply reply) const {
    add_cautions(reply, cautions());
    return reply;
  }

  /// Prints a reply as JSON, with the cautions that were said.
  template <class Reply>
  void tell(Reply reply) const {
    print(reply_as_json(cautioned(std::move(reply))));
  }
  /// The same, or what `text` makes of it.
  template <class Reply, class Text>
  void tell(Reply reply, const Text& text) const {
    json ? tell(std::move(reply)) : print_text(text());
  }

 private:
  std::shared_ptr<std::vector<std::string>> cautions_ = std::make_shared<std::vector<std::string>>();
};

template <class Request>
struct Asked : Request {
  Manner how;
};

/// Why some options exclude each other.
inline constexpr const char* kOneThing = "standard output holds one of them";

/// Those of json, quiet, plot, threads, html, pictures, folders, color and width that are named. `pictures` and
/// `folders` are png, svg and pdf: a file of each, or a folder for each; `no_progress` is --quiet beside a result.
[[nodiscard]] Fields<Manner> manner_fields(std::initializer_list<std::string_view> names, const std::string& group);

/// The fields of a question, and those that are named beside it, in a group of their own.
template <class Request>
[[nodiscard]] Fields<Asked<Request>> asked(const Fields<Request>& question,
                                           std::initializer_list<std::string_view> names,
                                           const std::string& group = {}) {
  Fields<Asked<Request>> fields;
  fields.add(question);
  fields.add(&Asked<Request>::how, manner_fields(names, group));
  return fields;
}

}  // namespace qkv::cli
