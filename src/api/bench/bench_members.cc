// What the replies about the bench hold.
#include "qkv/api/bench.h"

namespace qkv {

Members<Formula> describe(const Formula* /*type*/) {
  return Members<Formula>("Formula")
      .add(&Formula::text, "text", "As a line of text")
      .add(&Formula::mathml, "mathml", "The children of a <math> element");
}

Members<BenchMatrix> describe(const BenchMatrix* /*type*/) {
  return Members<BenchMatrix>("BenchMatrix")
      .add(&BenchMatrix::name, "name", "What its numbers are called by: NAME:ROW,COLUMN")
      .add(&BenchMatrix::title, "title", "Its letter")
      .add(&BenchMatrix::meaning, "meaning", "A phrase")
      .add(&BenchMatrix::rows, "rows", "Names of the rows")
      .add(&BenchMatrix::columns, "columns", "Names of the columns")
      .add(&BenchMatrix::first_row, "first_row", "The place of the first row that is kept")
      .add(&BenchMatrix::values, "values", "f64 [rows, columns]")
      .add(&BenchMatrix::hidden, "hidden", "b8 [rows, columns]: pairs that the mask forbids")
      .add(&BenchMatrix::sums, "sums", "f64 [rows]: of each row of the weights, which make 1, and of dS, which make 0")
      .add(&BenchMatrix::role, "role", "input, forward or backward")
      .add(&BenchMatrix::decimals, "decimals", "How many a cell shows")
      .add(&BenchMatrix::formula, "formula", "How it is made");
}

// A step has steps, so its type is named before its members are.
Members<BenchStep> describe(const BenchStep* /*type*/) {
  return Members<BenchStep>("BenchStep")
      .add(&BenchStep::id, "id", "A word")
      .add(&BenchStep::title, "title", "One or two words")
      .add(&BenchStep::sentence, "sentence", "What happens, of the chosen query")
      .add(&BenchStep::formulas, "formulas", "The same in numbers")
      .add(&BenchStep::made, "made", "Names of the matrices that it makes")
      .add(&BenchStep::used, "used", "Names of those that it is made of")
      .add_own(&BenchStep::inner, "inner", "Steps inside of it");
}

Members<BenchNumber> describe(const BenchNumber* /*type*/) {
  return Members<BenchNumber>("BenchNumber")
      .add(&BenchNumber::name, "name", "MATRIX:ROW,COLUMN, from 0")
      .add(&BenchNumber::label, "label", "The same with subscripts from 1")
      .add(&BenchNumber::value, "value", "Null where it is not finite")
      .add(&BenchNumber::shown, "shown", "Four digits; of what is tiny, one in how many")
      .add(&BenchNumber::full, "full", "Every digit")
      .add(&BenchNumber::formula, "formula", "Where it comes from, in numbers")
      .add(&BenchNumber::meaning, "meaning", "A sentence")
      .add(&BenchNumber::sources, "sources", "Names of what it is made of; * is every row or column")
      .add(&BenchNumber::uses, "uses", "Names of what is made of it");
}

Members<BenchWrong> describe(const BenchWrong* /*type*/) {
  return Members<BenchWrong>("BenchWrong")
      .add(&BenchWrong::id, "id", "A word of `wrong`")
      .add(&BenchWrong::title, "title", "What is done wrong")
      .add(&BenchWrong::sentence, "sentence", "What comes of it")
      .add(&BenchWrong::matrix, "matrix", "Which matrix is compared")
      .add(&BenchWrong::right, "right", "f64 [rows, columns]")
      .add(&BenchWrong::wrong, "wrong", "f64 [rows, columns]")
      .add(&BenchWrong::first, "first", "Row and column of the first difference, if any")
      .add(&BenchWrong::code, "code", "The line that does it")
      .add(&BenchWrong::sums, "sums", "f64 [rows]: sums of the wrong rows that should be 1");
}

Members<BenchNudge> describe(const BenchNudge* /*type*/) {
  return Members<BenchNudge>("BenchNudge")
      .add(&BenchNudge::name, "name", "Which number was changed")
      .add(&BenchNudge::step, "step", "What was added to it")
      .add(&BenchNudge::predicted, "predicted", "The change of the loss by its gradient")
      .add(&BenchNudge::found, "found", "The change of the loss")
      .add(&BenchNudge::sentence, "sentence", "Both in words");
}

Members<BenchReply> describe(const BenchReply* /*type*/) {
  return Members<BenchReply>("BenchReply")
      .add(&BenchReply::title, "title", "What lies on the bench")
      .add(&BenchReply::queries, "queries", "Tokens at the queries")
      .add(&BenchReply::keys, "keys", "Tokens at the keys")
      .add(&BenchReply::query, "query", "The chosen one")
      .add(&BenchReply::d_k, "d_k", "Numbers of a query and of a key")
      .add(&BenchReply::d_v, "d_v", "Numbers of a value")
      .add(&BenchReply::scale, "scale", "What dot products are multiplied by")
      .add(&BenchReply::matrices, "matrices", "In the order in which they are made")
      .add(&BenchReply::times_uniform, "times_uniform",
           "f32, as the weights: each times the keys that its query can read")
      .add(&BenchReply::steps, "steps", "From the query to the output")
      .add(&BenchReply::back, "back", "From the output's gradient to the inputs'; empty where none was asked for")
      .add(&BenchReply::remarks, "remarks", "What else is to be said, in sentences")
      .add(&BenchReply::wrong, "wrong", "The mistake that was asked for")
      .add(&BenchReply::nudge, "nudge", "The small step that was asked for")
      .add_cautions();
}

}  // namespace qkv
