#include "frozen.h"

#include <stdexcept>
#include <utility>

#include "packed_blocks.h"
#include "qkv/error.h"

namespace qkv::studio {
namespace {

void append(std::string& to, std::size_t number) {
  for (unsigned byte = 0; byte < 4; ++byte) to += static_cast<char>(number >> (8 * byte) & 0xFFU);
}

std::string name_of(std::string_view question, const Request& request) {
  return std::string(question) + " " + as_json(request);
}

std::string entry_of(const std::string& name, const StudioReply& reply) {
  const std::string_view blocks(reinterpret_cast<const char*>(reply.blocks.data()), reply.blocks.size());
  const std::string frame = framed(StudioFrame::reply, reply.json);
  const PackedBlocks packed = packed_blocks(framed(StudioFrame::blocks, blocks));
  std::string entry;
  for (const std::size_t number : {name.size(), frame.size(), std::size_t{packed.words}, packed.bytes.size()}) {
    append(entry, number);
  }
  return entry + name + frame + packed.bytes;
}

}  // namespace

void Frozen::refuse_kind(std::string_view question) {
  throw std::logic_error("a reply of another kind to " + std::string(question));
}

const AnyReply* Frozen::find(std::string_view question, const Request& request) const {
  const auto found = replies_.find(name_of(question, request));
  return found == replies_.end() ? nullptr : &found->second.reply;
}

const AnyReply& Frozen::add(std::string_view question, const Request& request) {
  if (const AnyReply* kept = find(question, request)) return *kept;
  return put(question, request, studio_.answer(question, request));
}

const AnyReply& Frozen::put(std::string_view question, const Request& request, AnyReply reply) {
  const std::string name = name_of(question, request);
  std::string entry = entry_of(name, studio_reply(reply));
  if (!replies_.contains(name)) packed_.add(entry);
  Kept kept{.request = request, .reply = std::move(reply), .entry = std::move(entry)};
  return replies_.insert_or_assign(name, std::move(kept)).first->second.reply;
}

bool Frozen::add_if_answered(std::string_view question, const Request& request) {
  try {
    add(question, request);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

std::set<std::string> Frozen::values_of(std::string_view field) const {
  std::set<std::string> values;
  for (const auto& [name, kept] : replies_) {
    const auto found = kept.request.find(field);
    if (found != kept.request.end()) values.insert(std::get<std::string>(found->second));
  }
  return values;
}

std::string Frozen::packed() const {
  std::string all;
  for (const auto& [name, kept] : replies_) all += kept.entry;
  return gzipped(all);
}

Request with(Request request, const Request& others) {
  for (const auto& [name, value] : others) request.insert_or_assign(name, value);
  return request;
}

}  // namespace qkv::studio
