#include "files/reading.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "files/descriptor.h"
#include "qkv/error.h"

namespace qkv::files {
namespace {

namespace fs = std::filesystem;

const ReadPlaces kEverywhere;
thread_local const ReadPlaces* current_places = &kEverywhere;

bool lies_in(const fs::path& whole, const fs::path& root) {
  const auto [in_root, in_whole] = std::ranges::mismatch(root, whole);
  return in_root == root.end() || (in_root->empty() && std::next(in_root) == root.end());
}

bool leads_inside(const fs::path& path) {
  std::error_code failed;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, failed), failed);
  if (failed) return false;
  return std::ranges::any_of(current_places->roots, [&](const std::string& root) {
    const fs::path known = fs::weakly_canonical(root, failed);
    return !failed && lies_in(whole, known);
  });
}

// Every folder that a ".." turns back from counts, or an answer would tell whether it is there.
bool stays_in_reach(const fs::path& path) {
  fs::path so_far;
  for (const fs::path& part : path) {
    if (part == ".." && !leads_inside(so_far.empty() ? fs::path(".") : so_far)) return false;
    so_far /= part;
  }
  return leads_inside(path);
}

}  // namespace

ReadWithin::ReadWithin(ReadPlaces places) : places_(std::move(places)), outer_(current_places) {
  current_places = &places_;
}

ReadWithin::~ReadWithin() { current_places = outer_; }

const ReadPlaces& places_of_thread() noexcept { return *current_places; }

bool is_in_reach(const std::string& path) { return current_places->roots.empty() || stays_in_reach(path); }

void require_in_reach(const std::string& path) {
  const std::size_t end = path.find('\0');
  if (end != std::string::npos) fail("cannot read", path.substr(0, end), "a NUL byte follows in its name");
  if (is_in_reach(path)) return;
  fail("cannot read", path, "it lies outside of " + current_places->roots.front());
}

std::string shown_path(const std::string& path) { return path == kStandardInput ? "standard input" : path; }

void require_file_or_folder(const std::string& path) {
  require_in_reach(path);
  std::error_code none;
  const fs::file_status found = fs::status(path, none);
  if (!fs::exists(found) || fs::is_regular_file(found) || fs::is_directory(found)) return;
  fail("cannot read", path, "expected a file or a folder, got a pipe, a device or a socket");
}

}  // namespace qkv::files
