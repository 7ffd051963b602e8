#include "qkv/api/far.h"

namespace qkv {

Members<FarTile> describe(const FarTile* /*type*/) {
  return Members<FarTile>("FarTile")
      .add(&FarTile::level, "level", "A cell has 2^level queries and keys, fewer at the ends")
      .add(&FarTile::row, "row", "Which row of tiles")
      .add(&FarTile::column, "column", "Which column of tiles")
      .add(&FarTile::i_begin, "i_begin", "Its first query")
      .add(&FarTile::i_end, "i_end", "The query after its last")
      .add(&FarTile::j_begin, "j_begin", "Its first key")
      .add(&FarTile::j_end, "j_end", "The key after its last")
      .add(&FarTile::every, "every", "More than 1: an estimate, of every n-th query only")
      .add(&FarTile::mean, "mean",
           "f16 [rows, columns]: log2 of the mean weight to 1 %, minus infinity for 0; null where all is hidden")
      .add(&FarTile::largest, "largest", "f16 [rows, columns]: log2 of the largest weight")
      .add(&FarTile::visible, "visible", "u8 [rows, columns]: share of visible pairs, 0 for none, 255 for all")
      .add(&FarTile::queries, "queries", "Words of its queries, at level 0")
      .add(&FarTile::keys, "keys", "Words of its keys, at level 0");
}

Members<FarLevel> describe(const FarLevel* /*type*/) {
  return Members<FarLevel>("FarLevel")
      .add(&FarLevel::level, "level", "From 0")
      .add(&FarLevel::side, "side", "Queries, and keys, of a cell")
      .add(&FarLevel::rows, "rows", "Rows of tiles")
      .add(&FarLevel::columns, "columns", "Columns of tiles")
      .add(&FarLevel::made, "made",
           "probed: each tile when it is asked for; walked: with its whole row of tiles, "
           "and kept; folded: from what was walked");
}

Members<FarNeedle> describe(const FarNeedle* /*type*/) {
  return Members<FarNeedle>("FarNeedle")
      .add(&FarNeedle::query, "query", "Which query")
      .add(&FarNeedle::key, "key", "The key that it reads most")
      .add(&FarNeedle::word, "word", "That key's word");
}

Members<FarReply> describe(const FarReply* /*type*/) {
  return Members<FarReply>("FarReply")
      .add(&FarReply::title, "title", "What is looked at")
      .add(&FarReply::queries, "queries", "How many")
      .add(&FarReply::keys, "keys", "How many")
      .add(&FarReply::mask, "mask", "The mask")
      .add(&FarReply::layers, "layers", "How many the attention has")
      .add(&FarReply::heads, "heads", "How many a layer has")
      .add(&FarReply::site, "site", "Which attention of the model; empty without one")
      .add(&FarReply::sites, "sites", "All that it has")
      .add(&FarReply::needles, "needles", "What is planted in a text that is made up")
      .add(&FarReply::levels, "levels", "From a cell for each pair to one tile for all")
      .add(&FarReply::base, "base", "The level that is walked")
      .add(&FarReply::overview, "overview", "An estimate of the last level's only tile")
      .add_cautions();
}

Members<FarKey> describe(const FarKey* /*type*/) {
  return Members<FarKey>("FarKey")
      .add(&FarKey::key, "key", "Which one")
      .add(&FarKey::word, "word", "Its word")
      .add(&FarKey::weight, "weight", "The query's weight on it");
}

Members<FarRowReply> describe(const FarRowReply* /*type*/) {
  return Members<FarRowReply>("FarRowReply")
      .add(&FarRowReply::query, "query", "Which query")
      .add(&FarRowReply::word, "word", "Its word")
      .add(&FarRowReply::visible, "visible", "Keys that it sees")
      .add(&FarRowReply::top, "top", "Those of largest weight, the largest first")
      .add(&FarRowReply::at, "at", "Those that were asked for")
      .add(&FarRowReply::entropy, "entropy", "Of its weights, in nats")
      .add(&FarRowReply::normalised_entropy, "normalised_entropy", "As a share of log(visible)")
      .add(&FarRowReply::distance, "distance", "Mean distance of what it reads, in tokens")
      .add(&FarRowReply::mass, "mass", "The sum of its weights: less than 1 with a sink")
      .add(&FarRowReply::sentence, "sentence", "The same in words");
}

Members<FarLargestReply> describe(const FarLargestReply* /*type*/) {
  return Members<FarLargestReply>("FarLargestReply")
      .add(&FarLargestReply::query, "query", "Which query")
      .add(&FarLargestReply::query_word, "query_word", "Its word")
      .add(&FarLargestReply::key, "key", "Which key")
      .add(&FarLargestReply::key_word, "key_word", "Its word")
      .add(&FarLargestReply::weight, "weight", "The query's weight on it");
}

Members<FarPlace> describe(const FarPlace* /*type*/) {
  return Members<FarPlace>("FarPlace")
      .add(&FarPlace::key, "key", "Which token")
      .add(&FarPlace::context, "context", "The words about it");
}

Members<FarFindReply> describe(const FarFindReply* /*type*/) {
  return Members<FarFindReply>("FarFindReply")
      .add(&FarFindReply::count, "count", "How many there are")
      .add(&FarFindReply::places, "places", "The first of them");
}

}  // namespace qkv
