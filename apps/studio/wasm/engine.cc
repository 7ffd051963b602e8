// The engine as a page calls it: questions in, the frames of docs/studio.md out. One thread, one question at a time.
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "qkv/api/asking.h"
#include "runtime/memory_files.h"
#include "runtime/page.h"

namespace {

// Whole frames, valid during the call. 0 ends the work on the question.
extern "C" QKV_IMPORT("hear") int qkv_hear(const char* frame, std::size_t bytes);

qkv::Studio& studio() {
  static qkv::Studio only;
  return only;
}

}  // namespace

/// Memory for what is handed over; null if there is none. Given back by free().
QKV_EXPORT("alloc") void* qkv_alloc(std::size_t bytes) { return std::malloc(bytes); }
QKV_EXPORT("free") void qkv_free(void* memory) { std::free(memory); }

/// Puts a file where the engine looks for it: `models/NAME.safetensors` is a model of the box. Takes the bytes over.
QKV_EXPORT("put_file")
void qkv_put_file(const char* path, std::size_t path_bytes, const std::byte* bytes, std::size_t count) {
  qkv::wasm::memory_files()[std::string(path, path_bytes)] = {bytes, count};
}

/// Answers a question by calls of hear(): progress, then the reply and its blocks, or an error. 0 if hear() ended it.
QKV_EXPORT("ask")
int qkv_ask(const char* name, std::size_t name_bytes, const char* request, std::size_t request_bytes) {
  const auto ask = [](std::string_view name, std::string_view request, const qkv::StudioWatch& watch) {
    return studio().ask(name, request, watch);
  };
  const qkv::Listener listener{
      .is_there = [] { return true; },
      .hear = [](std::string_view frame) { return qkv_hear(frame.data(), frame.size()) != 0; }};
  const bool heard = qkv::answer_in_frames(ask, {name, name_bytes}, {request, request_bytes}, listener);
  return heard ? 1 : 0;
}
