#include "frozen.h"

#include <cstdint>
#include <utility>

#include "encodings.h"
#include "qkv/error.h"

namespace qkv::studio {
namespace {

void put(std::string& to, std::size_t number) {
  for (unsigned byte = 0; byte < 4; ++byte) to += static_cast<char>(number >> (8 * byte) & 0xFFU);
}

}  // namespace

Request Frozen::add(std::string_view question, const Request& request) {
  const std::string body = request.dump();
  const StudioReply reply = studio_.ask(question, body);
  const std::string_view blocks(reinterpret_cast<const char*>(reply.blocks.data()), reply.blocks.size());
  std::string frames = framed(StudioFrame::reply, reply.json) + framed(StudioFrame::blocks, blocks);
  bytes_ += frames.size();
  replies_.insert_or_assign(std::string(question) + " " + body, std::move(frames));
  return Request::parse(reply.json);
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
  all.reserve(bytes_);
  for (const auto& [name, frames] : replies_) {
    put(all, name.size());
    put(all, frames.size());
    all += name;
    all += frames;
  }
  return gzipped(all);
}

}  // namespace qkv::studio
