#include "qkv/api/fetch.h"

namespace qkv {

Members<FetchFile> describe(const FetchFile* /*type*/) {
  return Members<FetchFile>("FetchFile")
      .add(&FetchFile::name, "name", "With the folder that it lies in")
      .add(&FetchFile::size, "size", "Bytes")
      .add(&FetchFile::hash, "hash", "In hexadecimal: SHA-256 of a large file, else git's of a blob");
}

Members<FetchFigures> describe(const FetchFigures* /*type*/) {
  using F = FetchFigures;
  return Members<F>("FetchFigures")
      .add(&F::name, "name", "The model's, on the hub")
      .add(&F::revision, "revision", "The commit")
      .add(&F::files, "files", "That qkv reads: config, weights, tokenizer, licence")
      .add_if_there(&F::choices, "choices",
                    "What may follow the name behind a colon, where its files are several GGUF models")
      .add_if_there(&F::folder, "folder", "Where they are now; this and what follows unless they are only listed")
      .add_if_there(&F::model, "model", "What opens it: the folder, or its GGUF file")
      .add_if_there(&F::received, "received", "Bytes that came over the network")
      .add_if_there(&F::was_there, "was_there", "Files that were there already, whole");
}

}  // namespace qkv
