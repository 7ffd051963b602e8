#include "text/chat_template/marked_text.h"

#include <algorithm>

namespace qkv::text::jinja {

MarkedText MarkedText::of_message(std::string content, std::size_t message) {
  MarkedText text(std::move(content));
  text.mark(0, text.size(), message);
  return text;
}

void MarkedText::mark(std::size_t begin, std::size_t end, std::size_t message) {
  if (begin == end) return;
  if (!marks_.empty() && marks_.back().end == begin && marks_.back().message == message) {
    marks_.back().end = end;
  } else {
    marks_.push_back({begin, end, message});
  }
}

std::vector<Mark>::const_iterator MarkedText::first_mark_after(std::size_t at) const {
  return std::ranges::upper_bound(marks_, at, {}, &Mark::end);
}

void MarkedText::append(const MarkedText& other, std::size_t begin, std::size_t end) {
  const std::size_t base = bytes_.size();
  bytes_.append(other.bytes_, begin, end - begin);
  for (auto mark = other.first_mark_after(begin); mark != other.marks_.end() && mark->begin < end; ++mark) {
    this->mark(base + std::max(mark->begin, begin) - begin, base + std::min(mark->end, end) - begin, mark->message);
  }
}

void MarkedText::append_for(const MarkedText& other, std::size_t at, std::string_view bytes) {
  const std::size_t base = bytes_.size();
  bytes_ += bytes;
  const auto found = other.first_mark_after(at);
  if (found != other.marks_.end() && found->begin <= at) mark(base, bytes_.size(), found->message);
}

MarkedText MarkedText::slice(std::size_t begin, std::size_t end) const {
  MarkedText part;
  part.append(*this, begin, end);
  return part;
}

}  // namespace qkv::text::jinja
