// What the replies about pictures and operations hold.
#include "qkv/api/pictures.h"

namespace qkv {

Members<DotPicture> describe(const DotPicture* /*type*/) {
  using P = DotPicture;
  return Members<P>("DotPicture")
      .add(&P::key, "key", "Which key")
      .add(&P::query_name, "query_name", "The token at the query")
      .add(&P::key_name, "key_name", "The token at the key")
      .add(&P::q, "q", "f64 [d_k]")
      .add(&P::k, "k", "f64 [d_k]")
      .add(&P::products, "products", "f64 [d_k]: number by number")
      .add(&P::sums, "sums", "f64 [d_k]: of the products so far")
      .add(&P::dot, "dot", "Their sum")
      .add(&P::q_length, "q_length", "|q|")
      .add(&P::k_length, "k_length", "|k|")
      .add(&P::cosine, "cosine", "Of the angle; null where a vector has no length")
      .add(&P::degrees, "degrees", "The angle")
      .add(&P::by_numbers, "by_numbers", "As a sum of products")
      .add(&P::by_angle, "by_angle", "As |q| |k| cos θ; empty where there is no angle")
      .add(&P::sentence, "sentence", "In words");
}

Members<ProductPicture> describe(const ProductPicture* /*type*/) {
  using P = ProductPicture;
  return Members<P>("ProductPicture")
      .add(&P::queries, "queries", "Names of the rows")
      .add(&P::keys, "keys", "Names of the columns")
      .add(&P::products, "products", "f64 [Tq, Tk, d_k]: q[i, c] k[j, c]")
      .add(&P::sums, "sums", "f64 [Tq, Tk, d_k]: up to and with c; the last is the cell")
      .add(&P::sentence, "sentence", "In words");
}

Members<MixPicture> describe(const MixPicture* /*type*/) {
  using P = MixPicture;
  return Members<P>("MixPicture")
      .add(&P::masses, "masses", "f64 [Tk]: as given")
      .add(&P::shares, "shares", "f64 [Tk]: of 1")
      .add(&P::path, "path", "f64 [Tk, d_v]: the mixture, value by value")
      .add(&P::mixture, "mixture", "f64 [d_v]")
      .add(&P::formula, "formula", "In numbers")
      .add(&P::sentence, "sentence", "In words");
}

Members<SplitPicture> describe(const SplitPicture* /*type*/) {
  using P = SplitPicture;
  return Members<P>("SplitPicture")
      .add(&P::tokens, "tokens", "T")
      .add(&P::heads, "heads", "H")
      .add(&P::width, "width", "Numbers of a head, d")
      .add(&P::places, "places", "i64 [H, T, d]: which number of [T, H d] stands there, row by row")
      .add(&P::sentence, "sentence", "In words");
}

Members<AskedPicture> describe(const AskedPicture* /*type*/) {
  using P = AskedPicture;
  return Members<P>("AskedPicture")
      .add(&P::queries, "queries", "Who asks")
      .add(&P::keys, "keys", "Who is asked")
      .add(&P::weights, "weights", "f64 [Tq, Tk]")
      .add(&P::sentence, "sentence", "In words");
}

Members<PicturesReply> describe(const PicturesReply* /*type*/) {
  using R = PicturesReply;
  return Members<R>("PicturesReply")
      .add(&R::dot, "dot", "The chosen query and a key: their product and their angle")
      .add(&R::product, "product", "Q K^T product by product; null where it is larger than 8 x 8 x 8")
      .add(&R::mix, "mix", "Values mixed; null for more than 12 keys, and where the query sees nothing")
      .add(&R::split, "split", "Numbers of a token laid out by heads")
      .add(&R::self, "self", "Own queries; null for a head of a model and for a long text")
      .add(&R::cross, "cross", "Queries of another text, likewise");
}

Members<OperationCode> describe(const OperationCode* /*type*/) {
  return Members<OperationCode>("OperationCode")
      .add(&OperationCode::language, "language", "A word of `languages`")
      .add(&OperationCode::text, "text", "Lines");
}

Members<OperationLanguage> describe(const OperationLanguage* /*type*/) {
  return Members<OperationLanguage>("OperationLanguage")
      .add(&OperationLanguage::id, "id", "A word")
      .add(&OperationLanguage::title, "title", "Its name");
}

Members<Operation> describe(const Operation* /*type*/) {
  return Members<Operation>("Operation")
      .add(&Operation::id, "id", "A word")
      .add(&Operation::title, "title", "A few words")
      .add(&Operation::why, "why", "A sentence")
      .add(&Operation::formula, "formula", "What is computed")
      .add(&Operation::file, "file", "Of qkv's tree")
      .add(&Operation::symbol, "symbol", "What does it there")
      .add(&Operation::steps, "steps", "Ids of the bench's steps to which it belongs")
      .add(&Operation::code, "code", "In each language");
}

Members<OperationsReply> describe(const OperationsReply* /*type*/) {
  return Members<OperationsReply>("OperationsReply")
      .add(&OperationsReply::languages, "languages", "In the order of the code")
      .add(&OperationsReply::operations, "operations", "In the order of attention");
}

}  // namespace qkv
