#include "tokenizer.h"

#include "../arrays.h"
#include "../said_as.h"
#include "asking.h"
#include "qkv/api/tokens.h"
#include "qkv/text/read_tokenizer.h"

namespace qkv::python {
namespace {

SpecialTokens special_of(bool special) { return special ? SpecialTokens::with : SpecialTokens::without; }

// (id, shown, begin, end, source) of each token, places in bytes.
using Row = std::tuple<std::int32_t, std::string, std::int64_t, std::int64_t, std::string>;

Encoding encoding_of(const OwnedTokenizer& self, const std::string& text, const std::optional<std::string>& pair,
                     bool special) {
  EncodeOptions options{.special = special_of(special), .pair = {}};
  if (pair) options.pair = *pair;
  return said_as("encode", [&] { return self.tokenizer->encode(text, options); });
}

std::vector<Row> rows_of(const OwnedTokenizer& self, const std::string& text, const std::optional<std::string>& pair,
                         bool special) {
  const TokensFigures figures = tokens_figures(encoding_of(self, text, pair, special), *self.tokenizer);
  std::vector<Row> rows;
  for (std::size_t n = 0; n < figures.ids.size(); ++n) {
    rows.emplace_back(figures.ids[n], shown_token(*self.tokenizer, figures.ids[n]), figures.offsets[n].front(),
                      figures.offsets[n].back(), figures.sources[n]);
  }
  return rows;
}

// With the bounds of its vocabulary, in the words of the method that was called.
std::int32_t id_of(const OwnedTokenizer& self, std::int64_t id, const Argument& argument) {
  require_between(argument.function, argument.name, id, 0, self.tokenizer->size() - 1);
  return static_cast<std::int32_t>(id);
}

std::vector<std::int32_t> ids_of(const OwnedTokenizer& self, nb::handle ids) {
  std::vector<std::int32_t> all;
  const Argument argument{"decode", "ids"};
  for (const std::int64_t id : whole_numbers_of(ids, argument)) all.push_back(id_of(self, id, argument));
  return all;
}

}  // namespace

void add_tokenizer(nb::module_& module) {
  nb::class_<OwnedTokenizer>(module, "Tokenizer")
      .def_static(
          "open",
          [](const std::string& path) {
            std::vector<std::string> cautions;
            const std::shared_ptr<const Tokenizer> read = read_tokenizer(path, &cautions);
            warn(path, cautions);
            return OwnedTokenizer{.owner = read, .tokenizer = read.get()};
          },
          nb::arg("path"))
      .def_prop_ro("size", [](const OwnedTokenizer& self) { return self.tokenizer->size(); })
      .def(
          "ids",
          [](const OwnedTokenizer& self, const std::string& text, const std::optional<std::string>& pair,
             bool special) { return encoding_of(self, text, pair, special).ids; },
          nb::arg("text"), nb::arg("pair"), nb::arg("special"))
      .def("rows", &rows_of, nb::arg("text"), nb::arg("pair"), nb::arg("special"))
      .def(
          "decode",
          [](const OwnedTokenizer& self, nb::handle ids, bool special) {
            const std::string text = self.tokenizer->decode(ids_of(self, ids), special_of(special));
            // A part of a character stands as U+FFFD.
            return nb::steal<nb::str>(
                PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
          },
          nb::arg("ids"), nb::arg("special"))
      .def(
          "piece",
          [](const OwnedTokenizer& self, std::int64_t id) {
            const std::string& piece = self.tokenizer->piece(id_of(self, id, {"piece", "id"}));
            return nb::bytes(piece.data(), piece.size());
          },
          nb::arg("id"))
      .def(
          "shown",
          [](const OwnedTokenizer& self, std::int64_t id) {
            return shown_token(*self.tokenizer, id_of(self, id, {"shown", "id"}));
          },
          nb::arg("id"))
      .def(
          "find", [](const OwnedTokenizer& self, const std::string& piece) { return self.tokenizer->find(piece); },
          nb::arg("piece"));
}

}  // namespace qkv::python
