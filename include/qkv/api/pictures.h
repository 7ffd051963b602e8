// What attention is made of, drawn in the numbers of the bench; and the table of its operations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "qkv/api/bench.h"
#include "qkv/explain/operations.h"
#include "qkv/explain/pictures.h"

namespace qkv {

/// Whether a word of a reader is a picture, and no text: it ends as the files of pictures do, or is a file.
[[nodiscard]] bool is_picture(const std::string& word);

struct PicturesRequest : BenchRequest {
  std::optional<std::int64_t> key;
  std::string masses;
  std::string other = "le chat";
};

struct PicturesReply {
  DotPicture dot;
  std::optional<ProductPicture> product;
  std::optional<MixPicture> mix;
  SplitPicture split;
  std::optional<AskedPicture> self = {}, cross = {};
};

struct OperationsRequest {};

struct OperationsReply {
  std::vector<OperationLanguage> languages;
  std::vector<Operation> operations;
};

[[nodiscard]] const Fields<PicturesRequest>& pictures_fields();
[[nodiscard]] const Fields<OperationsRequest>& operations_fields();

[[nodiscard]] Members<DotPicture> describe(const DotPicture* picture);
[[nodiscard]] Members<ProductPicture> describe(const ProductPicture* picture);
[[nodiscard]] Members<MixPicture> describe(const MixPicture* picture);
[[nodiscard]] Members<SplitPicture> describe(const SplitPicture* picture);
[[nodiscard]] Members<AskedPicture> describe(const AskedPicture* picture);
[[nodiscard]] Members<PicturesReply> describe(const PicturesReply* reply);
[[nodiscard]] Members<OperationCode> describe(const OperationCode* code);
[[nodiscard]] Members<OperationLanguage> describe(const OperationLanguage* language);
[[nodiscard]] Members<Operation> describe(const Operation* operation);
[[nodiscard]] Members<OperationsReply> describe(const OperationsReply* reply);

}  // namespace qkv
