#include "insight/read_layers.h"

#include <fmt/format.h>

#include <utility>

#include "nn/trace_record.h"

namespace qkv::insight {

void read_layer(Trace& trace, const std::string& stack, std::size_t layer, std::function<void()> read) {
  // A block's result is named last. Weak, for the record keeps its edits.
  trace.edit(fmt::format("{}blocks.{}", stack, layer),
             [read = std::move(read), kept = std::weak_ptr(trace.record())](const Variable& result) {
               read();
               if (const auto record = kept.lock()) record->attentions = {};
               return result;
             });
}

}  // namespace qkv::insight
