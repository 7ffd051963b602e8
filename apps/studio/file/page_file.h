// The studio in one file, which needs no server and no network.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "file/frozen.h"
#include "server/pages.h"

namespace qkv::studio {

/// The engine as WebAssembly, for a page in which everything can be changed.
struct LiveEngine {
  std::string engine;                         // the module, gzip
  std::string worker;                         // the script that runs it
  std::map<std::string, std::string> models;  // of the box, by name: files, gzip
};

struct PageFile {
  std::string title;
  std::vector<std::string> starts;  // where each page begins, as the address has it: "#/step?q=0"; the first opens
  std::optional<LiveEngine> live = std::nullopt;
  std::string host = {};  // of a page that asks who shows it: how it calls who answers, "qkv in the kernel"
};

/// Throws Error, saying what to install, if this build has no pages.
void require_pages();

/// The pages with their script and style in them, the replies, and a policy under which nothing else is run or loaded.
[[nodiscard]] std::string page_file(const Pages& pages, const PageFile& file, const Frozen& frozen);

}  // namespace qkv::studio
