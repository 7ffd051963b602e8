// Members of what is said of a mask and of the words of the language.
#include "qkv/api/mask.h"

namespace qkv {

Members<MaskExtents> describe(const MaskExtents* /*type*/) {
  using E = MaskExtents;
  return Members<E>("MaskExtents")
      .add(&E::batch, "batch", "Batch entries")
      .add(&E::heads, "heads", "Query heads")
      .add(&E::tq, "tq", "Queries")
      .add(&E::tk, "tk", "Keys")
      .add(&E::tile_queries, "tile_queries", "Queries of a tile")
      .add(&E::tile_keys, "tile_keys", "Keys of a tile");
}

Members<MaskCounts> describe(const MaskCounts* /*type*/) {
  using C = MaskCounts;
  return Members<C>("MaskCounts")
      .add(&C::pairs_kept, "pairs_kept", "Pairs that are seen, of all heads")
      .add(&C::pairs_total, "pairs_total", "All pairs")
      .add(&C::coverage, "coverage", "Share of pairs kept")
      .add(&C::skip, "skip", "Tiles without a visible pair")
      .add(&C::full, "full", "Tiles without a hidden pair")
      .add(&C::partial, "partial", "The others")
      .add(&C::tiles, "tiles", "All tiles")
      .add(&C::cost, "cost", "Share of tiles computed");
}

Members<MaskWordShown> describe(const MaskWordShown* /*type*/) {
  return Members<MaskWordShown>("MaskWordShown")
      .add(&MaskWordShown::word, "word", "Of the language")
      .add(&MaskWordShown::form, "form", "How it is written")
      .add(&MaskWordShown::meaning, "meaning", "What it shows")
      .add(&MaskWordShown::example, "example", "One that fits the shape");
}

Members<MaskMap> describe(const MaskMap* /*type*/) {
  return Members<MaskMap>("MaskMap")
      .add(&MaskMap::cell_queries, "cell_queries", "Queries of a cell, at most")
      .add(&MaskMap::cell_keys, "cell_keys", "Keys of a cell, at most")
      .add(&MaskMap::share, "share", "f32 [rows, columns]: share of a cell's pairs that is kept")
      .add(&MaskMap::blind_rows, "blind_rows", "Queries that see nothing")
      .add(&MaskMap::first_blind, "first_blind", "Eight of them at most")
      .add(&MaskMap::sentence, "sentence", "All of it in words");
}

Members<MaskFigures> describe(const MaskFigures* /*type*/) {
  return Members<MaskFigures>("MaskFigures")
      .add(&MaskFigures::mask, "mask", "The mask as it was read")
      .add(members_of<MaskExtents>())
      .add(members_of<MaskCounts>())
      .add_if_there(&MaskFigures::map, "map", "Where the request has it")
      .add(&MaskFigures::words, "words", "Of the mask language; an example that would be long is left out");
}

Members<MaskWordFigures> describe(const MaskWordFigures* /*type*/) {
  return Members<MaskWordFigures>("MaskWordFigures").add(members_of<MaskWordShown>()).add(members_of<MaskCounts>());
}

Members<MaskWordList> describe(const MaskWordList* /*type*/) {
  return Members<MaskWordList>("MaskWordList")
      .add(members_of<MaskExtents>())
      .add(&MaskWordList::words, "words", "Of the mask language");
}

}  // namespace qkv
