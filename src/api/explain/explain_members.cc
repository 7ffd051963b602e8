#include "qkv/api/bench.h"
#include "qkv/api/explain.h"

namespace qkv {

Members<Setting> describe(const Setting* /*setting*/) {
  return Members<Setting>("Setting")
      .add(&Setting::name, "name", "What is set")
      .add(&Setting::value, "value", "To what");
}

Members<Cell> describe(const Cell* /*cell*/) {
  return Members<Cell>("Cell")
      .add(&Cell::text, "text", "As it is shown")
      .add(&Cell::number, "number", "All digits, where it is a number");
}

Members<Table> describe(const Table* /*table*/) {
  return Members<Table>("Table")
      .add(&Table::title, "title", "Above it; may be empty")
      .add(&Table::columns, "columns", "Their names")
      .add(&Table::rows, "rows", "A cell for each column")
      .add(&Table::faint_rows, "faint_rows", "Which of them count less")
      .add(&Table::is_list, "is_list", "Whether each row stands for itself");
}

Members<ExplainedPicture> describe(const ExplainedPicture* /*picture*/) {
  return Members<ExplainedPicture>("ExplainedPicture")
      .add(&ExplainedPicture::id, "id", "A word")
      .add(&ExplainedPicture::title, "title", "Above it; may be empty")
      .add(&ExplainedPicture::text, "text", "What there is to see, for who does not see it")
      .add(&ExplainedPicture::x_axis, "x_axis", "Of a chart")
      .add(&ExplainedPicture::y_axis, "y_axis", "Of a chart")
      .add(&ExplainedPicture::logarithmic, "logarithmic", "Whether its axes are")
      .add(&ExplainedPicture::series, "series", "Of a chart: its lines")
      .add(&ExplainedPicture::diagram, "diagram", "Of a diagram: what is drawn")
      .add(&ExplainedPicture::image, "image", "Of an image: which of the reply's")
      .add(&ExplainedPicture::weights, "weights", "Over an image: [rows, columns] of its patches")
      .add(&ExplainedPicture::marked, "marked", "Over an image: b8 [rows, columns], patches that are outlined");
}

Members<ExplainedSeries> describe(const ExplainedSeries* /*series*/) {
  return Members<ExplainedSeries>("ExplainedSeries")
      .add(&ExplainedSeries::name, "name", "What it is of")
      .add(&ExplainedSeries::x, "x", "Where")
      .add(&ExplainedSeries::y, "y", "How much there");
}

Members<ExplainedStroke> describe(const ExplainedStroke* /*stroke*/) {
  return Members<ExplainedStroke>("ExplainedStroke")
      .add(&ExplainedStroke::kind, "kind", "line, dashes, arrow or area")
      .add(&ExplainedStroke::ink, "ink", "Whose colour it has")
      .add(&ExplainedStroke::x, "x", "Through which places, in points")
      .add(&ExplainedStroke::y, "y", "As many");
}

Members<ExplainedBox> describe(const ExplainedBox* /*box*/) {
  return Members<ExplainedBox>("ExplainedBox")
      .add(&ExplainedBox::x, "x", "Of its left edge")
      .add(&ExplainedBox::y, "y", "Of its upper edge")
      .add(&ExplainedBox::width, "width", "In points")
      .add(&ExplainedBox::height, "height", "In points")
      .add(&ExplainedBox::text, "text", "In its middle")
      .add(&ExplainedBox::ink, "ink", "Whose colour it has")
      .add(&ExplainedBox::fill, "fill", "none, faint or strong");
}

Members<ExplainedCaption> describe(const ExplainedCaption* /*caption*/) {
  return Members<ExplainedCaption>("ExplainedCaption")
      .add(&ExplainedCaption::x, "x", "Where it is aligned")
      .add(&ExplainedCaption::y, "y", "Of its baseline")
      .add(&ExplainedCaption::text, "text", "A few words")
      .add(&ExplainedCaption::ink, "ink", "Whose colour it has: plain, soft, query, key, value or accent")
      .add(&ExplainedCaption::align, "align", "left, middle or right");
}

Members<ExplainedDiagram> describe(const ExplainedDiagram* /*diagram*/) {
  return Members<ExplainedDiagram>("ExplainedDiagram")
      .add(&ExplainedDiagram::width, "width", "In points")
      .add(&ExplainedDiagram::height, "height", "In points")
      .add(&ExplainedDiagram::strokes, "strokes", "Drawn first")
      .add(&ExplainedDiagram::boxes, "boxes", "Then these")
      .add(&ExplainedDiagram::captions, "captions", "And words last");
}

Members<ExplainedMap> describe(const ExplainedMap* /*map*/) {
  return Members<ExplainedMap>("ExplainedMap")
      .add(&ExplainedMap::id, "id", "A word")
      .add(&ExplainedMap::title, "title", "Above it")
      .add(&ExplainedMap::rows, "rows", "Names of the rows")
      .add(&ExplainedMap::columns, "columns", "Names of the columns")
      .add(&ExplainedMap::row_axis, "row_axis", "What rows are; may be empty")
      .add(&ExplainedMap::column_axis, "column_axis", "What columns are; may be empty")
      .add(&ExplainedMap::value_name, "value_name", "What its numbers are")
      .add(&ExplainedMap::colours, "colours", "sequential or diverging")
      .add(&ExplainedMap::low, "low", "Where the colours begin")
      .add(&ExplainedMap::high, "high", "Where they end")
      .add(&ExplainedMap::decimals, "decimals", "How many a cell shows")
      .add(&ExplainedMap::values, "values", "[rows, columns]: f32 in a page, f64 in numbers")
      .add(&ExplainedMap::hidden, "hidden", "b8 [rows, columns]: what the mask forbids")
      .add(&ExplainedMap::whole, "whole", "Of numbers: every value, where values are means of blocks");
}

Members<ExplainedPart> describe(const ExplainedPart* /*part*/) {
  return Members<ExplainedPart>("ExplainedPart")
      .add(&ExplainedPart::kind, "kind", "step, query or why")
      .add(&ExplainedPart::number, "number", "Of a step, from 1; else 0")
      .add(&ExplainedPart::id, "id", "A word")
      .add(&ExplainedPart::title, "title", "A line")
      .add(&ExplainedPart::text, "text", "Why it is done, in a sentence or two")
      .add(&ExplainedPart::finding, "finding", "Of a why: what the numbers say")
      .add(&ExplainedPart::formulas, "formulas", "How it is made")
      .add(&ExplainedPart::shape, "shape", "Of what is made")
      .add(&ExplainedPart::maps, "maps", "Matrices")
      .add(&ExplainedPart::is_folded, "is_folded", "Whether only titles of the maps are shown at first")
      .add(&ExplainedPart::tables, "tables", "Tables")
      .add(&ExplainedPart::pictures, "pictures", "Charts, diagrams and images")
      .add(&ExplainedPart::notes, "notes", "What else is to be said");
}

Members<ExplainReply> describe(const ExplainReply* /*reply*/) {
  return Members<ExplainReply>("ExplainReply")
      .add(&ExplainReply::title, "title", "What is explained")
      .add(&ExplainReply::tokens, "tokens", "Tokens at the queries")
      .add_if_there(&ExplainReply::sources, "sources",
                    "Of each token of a conversation: template, answer, or its message's role (user, assistant, …)")
      .add(&ExplainReply::keys, "keys", "Tokens at the keys")
      .add(&ExplainReply::settings, "settings", "With which")
      .add(&ExplainReply::notes, "notes", "What else is to be said")
      .add(&ExplainReply::parts, "parts", "Steps, then the query that was asked for, then answers to why")
      .add(&ExplainReply::images, "images", "u8 [height, width, 3] each")
      .add(&ExplainReply::tensors, "tensors", "Of numbers: what the pictures are drawn from, whole");
}

Members<WorkedExample> describe(const WorkedExample* /*example*/) {
  using W = WorkedExample;
  return Members<W>("WorkedExample")
      .add(&W::name, "name", "What --worked takes")
      .add(&W::title, "title", "A line")
      .add(&W::summary, "summary", "What it shows")
      .add(&W::seed, "seed", "The document that it is from")
      .add(&W::place, "place", "Where in it");
}

}  // namespace qkv
