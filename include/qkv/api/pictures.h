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
  std::optional<AskedPicture> self, cross;
};

struct OperationsRequest {};

struct OperationsReply {
  std::vector<OperationLanguage> languages;
  std::vector<Operation> operations;
};

[[nodiscard]] const Fields<PicturesRequest>& pictures_fields();
[[nodiscard]] const Fields<OperationsRequest>& operations_fields();

[[nodiscard]] const Members<DotPicture>& members_of(const DotPicture* picture);
[[nodiscard]] const Members<ProductPicture>& members_of(const ProductPicture* picture);
[[nodiscard]] const Members<MixPicture>& members_of(const MixPicture* picture);
[[nodiscard]] const Members<SplitPicture>& members_of(const SplitPicture* picture);
[[nodiscard]] const Members<AskedPicture>& members_of(const AskedPicture* picture);
[[nodiscard]] const Members<PicturesReply>& members_of(const PicturesReply* reply);
[[nodiscard]] const Members<OperationCode>& members_of(const OperationCode* code);
[[nodiscard]] const Members<OperationLanguage>& members_of(const OperationLanguage* language);
[[nodiscard]] const Members<Operation>& members_of(const Operation* operation);
[[nodiscard]] const Members<OperationsReply>& members_of(const OperationsReply* reply);

}  // namespace qkv
