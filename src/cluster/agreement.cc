#include "cluster/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "mask/batch_entry.h"
#include "qkv/info.h"

namespace qkv::cluster {
namespace {

constexpr std::string_view kRefused = "refused";  // the name of what a rank says that cannot make the call

// FNV-1a, of 64 bits.
class Hash {
 public:
  void add(std::uint64_t number) {
    for (int byte = 0; byte < 8; ++byte) add_byte(number >> (8 * byte) & 0xFF);
  }
  void add(std::string_view text) {
    for (const char letter : text) add_byte(static_cast<unsigned char>(letter));
  }
  [[nodiscard]] std::string text() const { return fmt::format("#{:016x}", value_); }

 private:
  void add_byte(std::uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001B3; }

  std::uint64_t value_ = 0xCBF29CE484222325;
};

// Up to `most` places from 0 to extent - 1, both among them.
std::vector<std::int64_t> places_among(std::int64_t extent, std::int64_t most) {
  std::vector<std::int64_t> all;
  const std::int64_t count = std::min(extent, most);
  for (std::int64_t n = 0; n < count; ++n) all.push_back(count == 1 ? 0 : n * (extent - 1) / (count - 1));
  return all;
}

template <class Body>
void for_each_place(const MaskShape& shape, std::int64_t queries, std::int64_t keys, const Body& body) {
  for (const std::int64_t b : places_among(shape.B, 3)) {
    for (const std::int64_t h : places_among(shape.H, 3)) {
      for (const std::int64_t i : places_among(shape.Tq, queries)) {
        for (const std::int64_t j : places_among(shape.Tk, keys)) body(Place{.b = b, .h = h, .i = i, .j = j});
      }
    }
  }
}

void add_mask(const Mask& mask, const MaskShape& shape, Hash& hash) {
  for_each_place(shape, 16, 16, [&](const Place& place) {
    const auto count = static_cast<int>(std::min<std::int64_t>(64, shape.Tk - place.j));
    hash.add(mask.row_bits(place, count, shape));
  });
}

void add_bias(const Bias& bias, const MaskShape& shape, Hash& hash) {
  for_each_place(shape, 16, 16,
                 [&](const Place& place) { hash.add(std::bit_cast<std::uint64_t>(bias.at(place, shape))); });
}

// Calls body(mask, bias, shape) for what a mask and a bias are asked of: the whole, or some documents.
template <class Body>
void for_each_matrix(const WholeCall& whole, const Body& body) {
  const AttentionOptions& options = whole.options;
  if (!options.ragged) return body(options.mask, options.bias, whole.shape);
  const auto& [q_offsets, k_offsets] = *options.ragged;
  const auto documents = static_cast<std::int64_t>(q_offsets.size()) - 1;
  for (const std::int64_t n : places_among(documents, 8)) {
    const auto place = static_cast<std::size_t>(n);
    body(batch_entry(options.mask, n, documents), batch_entry(options.bias, n, documents),
         MaskShape{.B = 1,
                   .H = whole.shape.H,
                   .Tq = q_offsets[place + 1] - q_offsets[place],
                   .Tk = k_offsets[place + 1] - k_offsets[place]});
  }
}

// A text, or its beginning and a hash of all of it.
std::string shortened_text(const std::string& text) {
  constexpr std::size_t kMost = 100;
  if (text.size() <= kMost) return text;
  Hash hash;
  hash.add(text);
  return text.substr(0, kMost) + "… " + hash.text();
}

std::string text_of(const SequenceShares& shares) {
  Hash hash;
  for (int rank = 0; rank < shares.ranks(); ++rank) {
    hash.add(static_cast<std::uint64_t>(shares.pieces(rank).size()));
    for (const auto& [first, step, count] : shares.pieces(rank)) {
      for (const std::int64_t number : {first, step, count}) hash.add(static_cast<std::uint64_t>(number));
    }
  }
  return fmt::format("{} positions on {} ranks {}", shares.T(), shares.ranks(), hash.text());
}

template <class T>
std::string text_of(const std::optional<T>& number) {
  return number ? fmt::format("{}", *number) : "none";
}

std::string text_of(const std::optional<Ragged>& ragged) {
  if (!ragged) return "none";
  Hash hash;
  for (const auto& offsets : {ragged->q_offsets, ragged->k_offsets}) {
    for (const std::int64_t offset : offsets) hash.add(static_cast<std::uint64_t>(offset));
  }
  return fmt::format("{} documents {}", ragged->q_offsets.size() - 1, hash.text());
}

std::string text_of(const Digest& digest) {
  std::string text;
  for (const auto& [name, value] : digest) text += name + '\0' + value + '\0';
  return text;
}

Digest read_digest(std::string_view text) {
  Digest digest;
  const auto taken = [&] {
    const std::size_t end = text.find('\0');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end + 1);
    return std::string(word);
  };
  while (!text.empty()) {
    std::string name = taken();
    digest.push_back({.name = std::move(name), .value = taken()});
  }
  return digest;
}

std::string_view view_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

// What is wrong with the digests of all ranks; empty if nothing is.
std::string verdict(const Transport& transport, std::string_view function,
                    const std::vector<std::vector<std::byte>>& said) {
  std::vector<Digest> digests;
  for (const std::vector<std::byte>& one : said) digests.push_back(read_digest(view_of(one)));
  for (int rank = 0; rank < transport.size(); ++rank) {
    const Digest& own = digests[static_cast<std::size_t>(rank)];
    if (!own.empty() && own.front().name == kRefused) {
      return fmt::format("{} refuses the call: {}", transport.name_of(rank), own.front().value);
    }
  }
  const Digest& first = digests.front();
  for (int rank = 1; rank < transport.size(); ++rank) {
    const Digest& own = digests[static_cast<std::size_t>(rank)];
    for (std::size_t n = 0; n < std::max(first.size(), own.size()); ++n) {
      const Said left = n < first.size() ? first[n] : Said{.name = "another call", .value = "none"};
      const Said right = n < own.size() ? own[n] : Said{.name = "another call", .value = "none"};
      if (left.name == right.name && left.value == right.value) continue;
      return fmt::format("{}: ranks differ in {}: {} on {}, {} on {}", function, left.name, left.value,
                         transport.name_of(0), right.value, transport.name_of(rank));
    }
  }
  return {};
}

}  // namespace

Digest digest_of(std::string_view function, const WholeCall& whole, DType dtype,
                 const std::vector<SequenceShares>& shares) {
  const AttentionOptions& options = whole.options;
  Digest digest = {{"version", std::string(build_info().full)},
                   {"function", std::string(function)},
                   {"target", std::string(attention_target(dtype, options))},
                   {"dtype", std::string(name_of(dtype))}};
  for (const SequenceShares& one : shares) digest.push_back({"shares", text_of(one)});
  Hash mask;
  Hash bias;
  for_each_matrix(whole, [&](const Mask& own_mask, const Bias& own_bias, const MaskShape& shape) {
    add_mask(own_mask, shape, mask);
    add_bias(own_bias, shape, bias);
  });
  digest.push_back({"scale", text_of(options.scale)});
  digest.push_back({"softcap", text_of(options.softcap)});
  digest.push_back({"bias", shortened_text(options.bias.to_string()) + " " + bias.text()});
  digest.push_back({"mask", shortened_text(options.mask.to_string()) + " " + mask.text()});
  digest.push_back(
      {"dropout", options.dropout ? fmt::format("{} {}", options.dropout->p, options.dropout->seed) : "none"});
  digest.push_back({"sinks", shortened_text(fmt::format("{}", fmt::join(options.sinks, ", ")))});
  digest.push_back({"ragged", text_of(options.ragged)});
  return digest;
}

std::string hash_text(const TensorView& x) {
  Hash hash;
  for (const double value : x.to_vector()) hash.add(std::bit_cast<std::uint64_t>(value));
  return hash.text();
}

void agree(Transport& transport, std::string_view function, const std::function<Digest()>& say) {
  Digest digest;
  std::exception_ptr refusal;
  try {
    digest = say();
  } catch (const Error& error) {
    refusal = std::current_exception();
    digest = {{std::string(kRefused), error.what()}};
  }
  const auto said = transport.gather(0, bytes_of(text_of(digest)));
  std::vector<std::byte> fault;
  if (transport.rank() == 0) fault = bytes_of(verdict(transport, function, said));
  transport.broadcast(0, fault);
  if (refusal != nullptr) std::rethrow_exception(refusal);
  if (!fault.empty()) throw ClusterError(std::string(view_of(fault)));
}

}  // namespace qkv::cluster
