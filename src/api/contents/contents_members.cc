#include "qkv/api/contents.h"

namespace qkv {

Members<ContentsWord> describe(const ContentsWord* /*type*/) {
  return Members<ContentsWord>("ContentsWord")
      .add(&ContentsWord::name, "name", "Its key")
      .add(&ContentsWord::type, "type", "As the file says it; of JSON, what it is there")
      .add(&ContentsWord::value, "value", "As JSON; of a long list its first values and how many there are");
}

Members<ContentsTensor> describe(const ContentsTensor* /*type*/) {
  return Members<ContentsTensor>("ContentsTensor")
      .add(&ContentsTensor::name, "name", "In the file")
      .add(&ContentsTensor::type, "type", "As the file says it: F32, BF16, Q4_K")
      .add(&ContentsTensor::shape, "shape", "The outermost axis first")
      .add(&ContentsTensor::bytes, "bytes", "In the file");
}

Members<ContentsType> describe(const ContentsType* /*type*/) {
  return Members<ContentsType>("ContentsType")
      .add(&ContentsType::type, "type", "Of tensors")
      .add(&ContentsType::tensors, "tensors", "How many there are")
      .add(&ContentsType::numbers, "numbers", "In all of them")
      .add(&ContentsType::bytes, "bytes", "In the file");
}

Members<ContentsFile> describe(const ContentsFile* /*type*/) {
  return Members<ContentsFile>("ContentsFile")
      .add(&ContentsFile::name, "name", "Without its folder")
      .add(&ContentsFile::bytes, "bytes", "Its size");
}

Members<Contents> describe(const Contents* /*type*/) {
  using C = Contents;
  return Members<C>("Contents")
      .add(&C::path, "path", "That was asked about")
      .add(&C::form, "form", "What is there: GGUF, version 3; safetensors; a folder")
      .add(&C::files, "files", "One, the parts of a split one, or those of the folder")
      .add(&C::words, "words", "Metadata by name; of a folder its config.json")
      .add(&C::types, "types", "The largest first")
      .add(&C::tensors, "tensors", "In the order of their data")
      .add(&C::numbers, "numbers", "Of all tensors")
      .add(&C::memory, "memory", "Bytes that the quantised tensors take as f32, as all but `qkv generate` open them")
      .add(&C::refusal, "refusal", "Of GGUF: why no model of it is opened; empty where one is")
      .add(&C::writes, "writes", "Of GGUF: whether `qkv generate` opens it");
}

}  // namespace qkv
