// Members of what is said of a mask and of the words of the language.
#include "qkv/api/mask.h"

namespace qkv {

const Members<MaskExtents>& members_of(const MaskExtents* /*type*/) {
  using E = MaskExtents;
  static const auto kMembers = Members<E>("MaskExtents")
                                   .add(&E::batch, "batch", "Batch entries")
                                   .add(&E::heads, "heads", "Query heads")
                                   .add(&E::tq, "tq", "Queries")
                                   .add(&E::tk, "tk", "Keys")
                                   .add(&E::tile_queries, "tile_queries", "Queries of a tile")
                                   .add(&E::tile_keys, "tile_keys", "Keys of a tile");
  return kMembers;
}

const Members<MaskCounts>& members_of(const MaskCounts* /*type*/) {
  using C = MaskCounts;
  static const auto kMembers = Members<C>("MaskCounts")
                                   .add(&C::pairs_kept, "pairs_kept", "Pairs that are seen, of all heads")
                                   .add(&C::pairs_total, "pairs_total", "All pairs")
                                   .add(&C::coverage, "coverage", "Share of pairs kept")
                                   .add(&C::skip, "skip", "Tiles without a visible pair")
                                   .add(&C::full, "full", "Tiles without a hidden pair")
                                   .add(&C::partial, "partial", "The others")
                                   .add(&C::tiles, "tiles", "All tiles")
                                   .add(&C::cost, "cost", "Share of tiles computed");
  return kMembers;
}

const Members<MaskWordShown>& members_of(const MaskWordShown* /*type*/) {
  static const auto kMembers = Members<MaskWordShown>("MaskWordShown")
                                   .add(&MaskWordShown::word, "word", "Of the language")
                                   .add(&MaskWordShown::form, "form", "How it is written")
                                   .add(&MaskWordShown::meaning, "meaning", "What it shows")
                                   .add(&MaskWordShown::example, "example", "One that fits the shape");
  return kMembers;
}

const Members<MaskMap>& members_of(const MaskMap* /*type*/) {
  static const auto kMembers =
      Members<MaskMap>("MaskMap")
          .add(&MaskMap::cell_queries, "cell_queries", "Queries of a cell, at most")
          .add(&MaskMap::cell_keys, "cell_keys", "Keys of a cell, at most")
          .add(&MaskMap::share, "share", "f32 [rows, columns]: share of a cell's pairs that is kept")
          .add(&MaskMap::blind_rows, "blind_rows", "Queries that see nothing")
          .add(&MaskMap::first_blind, "first_blind", "Eight of them at most")
          .add(&MaskMap::sentence, "sentence", "All of it in words");
  return kMembers;
}

const Members<MaskFigures>& members_of(const MaskFigures* /*type*/) {
  static const auto kMembers =
      Members<MaskFigures>("MaskFigures")
          .add(&MaskFigures::mask, "mask", "The mask as it was read")
          .add(members_of(static_cast<const MaskExtents*>(nullptr)))
          .add(members_of(static_cast<const MaskCounts*>(nullptr)))
          .add_if_there(&MaskFigures::map, "map", "Where the request has it")
          .add(&MaskFigures::words, "words", "Of the mask language; an example that would be long is left out");
  return kMembers;
}

const Members<MaskWordFigures>& members_of(const MaskWordFigures* /*type*/) {
  static const auto kMembers = Members<MaskWordFigures>("MaskWordFigures")
                                   .add(members_of(static_cast<const MaskWordShown*>(nullptr)))
                                   .add(members_of(static_cast<const MaskCounts*>(nullptr)));
  return kMembers;
}

const Members<MaskWordList>& members_of(const MaskWordList* /*type*/) {
  static const auto kMembers = Members<MaskWordList>("MaskWordList")
                                   .add(members_of(static_cast<const MaskExtents*>(nullptr)))
                                   .add(&MaskWordList::words, "words", "Of the mask language");
  return kMembers;
}

}  // namespace qkv
