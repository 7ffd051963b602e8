#include "file_places.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "qkv/api/refusal.h"
#include "qkv/files.h"
#include "qkv/written_files.h"

namespace qkv::cli {
namespace {

// A text that names a file, and where in it a tensor lies.
struct Place {
  std::string field, option, text;
  FileUse use = FileUse::read;
  TensorPath at;
};

bool names_file(const FieldInfo& field) {
  return field.form.starts_with("FILE") || field.form == "TREES" || field.name == "model";
}

bool is_data(const FieldInfo& field, const std::string& text) {
  return !field.media.empty() && text.starts_with("data:");
}

// Of an archive of gradients, or of whatever there is, the first stands for all.
TensorPath in_archive(const std::string& option, const FieldInfo& field, const std::string& file) {
  const bool is_archive = file.ends_with(".npz") || (file.ends_with(".safetensors") && field.ending.empty());
  if (!is_archive)
    misuse(option, std::string("a name that ends in .npz") + (field.ending.empty() ? " or .safetensors" : ""), file);
  return parse_tensor_path(file + ":d_q");
}

// What is wrong with a path that is read, its reader says; it may be no path at all.
TensorPath tensor_path(const Place& place) {
  try {
    TensorPath path = parse_tensor_path(place.text);
    if (path.format != TensorFormat::npy && path.member.empty()) path.member = "tensor";
    return path;
  } catch (const InvalidArgument& error) {
    if (place.use == FileUse::tensor) misuse(place.option, error.expected(), error.got());
    return {.file = place.text, .member = {}};
  }
}

std::vector<Place> places_of(const Command& command, const FieldValues& values) {
  std::vector<Place> places;
  for (const auto& [n, value] : values) {
    const FieldInfo& field = command.infos()[n];
    if (!names_file(field)) continue;
    const auto* const one = std::get_if<std::string>(&value);
    for (const std::string& text : one != nullptr ? std::vector{*one} : std::get<std::vector<std::string>>(value)) {
      if (text.empty() || text == "-" || is_tensor_text(text) || is_data(field, text))
        continue;  // "-" is a standard stream
      Place place{
          .field = field.name, .option = command.option_of(field.name), .text = text, .use = field.file, .at = {}};
      place.at = field.file == FileUse::archive   ? in_archive(place.option, field, text)
                 : field.file == FileUse::written ? TensorPath{.file = text, .member = {}}
                                                  : tensor_path(place);
      places.push_back(std::move(place));
    }
  }
  return places;
}

bool is_same_file(const std::string& a, const std::string& b) {
  try {
    return is_same_place(a, b);
  } catch (const Error&) {  // a directory
    return false;
  }
}

// Two results share an archive if they spell it alike, for it is written once, with both in it.
bool share_archive(const Place& a, const Place& b) {
  return !a.at.member.empty() && a.at.file == b.at.file && a.at.member != b.at.member;
}

}  // namespace

void check_files(const Command& command, const FieldValues& values) {
  const std::vector<Place> all = places_of(command, values);
  for (std::size_t n = 0; n < all.size(); ++n) {
    const Place& output = all[n];
    if (output.use == FileUse::read) continue;
    for (std::size_t m = 0; m < all.size(); ++m) {
      const bool is_read = all[m].use == FileUse::read;
      if (!is_read && (m >= n || share_archive(output, all[m]))) continue;
      if (!is_same_file(output.at.file, all[m].at.file)) continue;
      const std::string own = "\"" + output.text + "\"";
      misuse(output.option,
             "a file other than that of " + all[m].option + ", which is " + (is_read ? "read" : "written, too"),
             output.text == all[m].text ? own : own + " and \"" + all[m].text + "\"");
    }
    try {
      require_writable(output.at.file);
    } catch (const FileError& error) {  // other options may have the same text
      throw NotThere(output.field, error.what());
    }
  }
}

}  // namespace qkv::cli
