// A template as a tree: statements, and the expressions in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/chat_template/value.h"

namespace qkv::text::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Argument {
  std::string name;  // empty: by place
  ExpressionPtr value;
};

enum class ExpressionKind : std::uint8_t {
  constant,     // value
  name,         // name
  list,         // parts
  tuple,        // parts
  dict,         // parts: key, value, key, value …
  unary,        // name: "not", "-" or "+"; parts[0]
  binary,       // name: an operator of numbers; parts[0], parts[1]
  concat,       // parts
  compare,      // parts[0] names[0] parts[1] names[1] …
  both,         // and
  either,       // or
  conditional,  // parts: condition, then, else (null: none)
  attribute,    // parts[0].name
  item,         // parts[0][parts[1]]
  slice,        // parts[0][parts[1]:parts[2]:parts[3]], each of which may be null
  call,         // parts[0](arguments)
  filter,       // parts[0]|name(arguments); parts[0] null: of a block
  test,         // parts[0] is name(arguments)
};

struct Expression {
  ExpressionKind kind = ExpressionKind::constant;
  std::uint32_t line = 1;
  std::string name = {};
  Value value = {};
  std::vector<ExpressionPtr> parts = {};
  std::vector<std::string> names = {};
  std::vector<Argument> arguments = {};
  std::size_t depth = 1;
};

using Body = std::vector<Statement>;

enum class StatementKind : std::uint8_t {
  text,          // value
  output,        // expressions[0]
  choice,        // if expressions[n]: bodies[n]; a last body without an expression is the else
  loop,          // for names in expressions[0] if expressions[1] (may be null): bodies[0], else bodies[1]
  set,           // names = expressions[0]
  set_member,    // names[0].names[1] = expressions[0]
  set_block,     // names = bodies[0] through the filters expressions[0] (may be null)
  macro,         // names[0](names[1] = expressions[0] (may be null), …): bodies[0]
  call_block,    // expressions[0], a call, with `macro` as its caller
  filter_block,  // bodies[0] through the filters expressions[0]
  with,          // names[n] = expressions[n]: bodies[0]
  leave_loop,    // break
  next_round,    // continue
};

struct Statement {
  StatementKind kind = StatementKind::text;
  std::uint32_t line = 1;
  Value value = {};
  std::vector<std::string> names = {};
  std::vector<ExpressionPtr> expressions = {};
  std::vector<Body> bodies = {};
  std::vector<Statement> macro = {};
};

}  // namespace qkv::text::jinja
