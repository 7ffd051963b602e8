#include "frozen.h"

#include <utility>

#include "packed_blocks.h"
#include "qkv/error.h"

namespace qkv::studio {
namespace {

void append(std::string& to, std::size_t number) {
  for (unsigned byte = 0; byte < 4; ++byte) to += static_cast<char>(number >> (8 * byte) & 0xFFU);
}

std::string name_of(std::string_view question, const Request& request) {
  return std::string(question) + " " + request.dump();
}

// As packed() has it.
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

Request Frozen::add(std::string_view question, const Request& request, const EditBlocks& edit) {
  const auto found = replies_.find(name_of(question, request));
  if (found != replies_.end()) return Request::parse(found->second.json);
  StudioReply reply = studio_.ask(question, request.dump());
  Request json = Request::parse(reply.json);
  if (edit) edit(json, reply.blocks);
  put(question, request, std::move(reply));
  return json;
}

void Frozen::put(std::string_view question, const Request& request, StudioReply reply) {
  const std::string name = name_of(question, request);
  if (!replies_.contains(name)) packed_.add(entry_of(name, reply));
  replies_.insert_or_assign(name, std::move(reply));
}

void Frozen::change(std::string_view question, const Request& request, const std::function<void(Request&)>& edit) {
  StudioReply& reply = replies_.at(name_of(question, request));
  Request json = Request::parse(reply.json);
  edit(json);
  reply.json = json.dump();
}

std::set<std::string> Frozen::values_of(std::string_view field) const {
  std::set<std::string> values;
  for (const auto& [name, reply] : replies_) {
    const Request request = Request::parse(name.substr(name.find(' ') + 1));
    if (request.contains(field)) values.insert(request[field].get<std::string>());
  }
  return values;
}

bool Frozen::add_if_answered(std::string_view question, const Request& request) {
  try {
    add(question, request);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

std::string Frozen::packed() const {
  std::string all;
  for (const auto& [name, reply] : replies_) all += entry_of(name, reply);
  return gzipped(all);
}

}  // namespace qkv::studio
