#include <algorithm>

#include "text/chat_template/operators.h"
#include "text/chat_template/renderer.h"

namespace qkv::text::jinja {

Renderer::Renderer(Budget& budget, std::vector<std::pair<std::string, Value>> names, std::optional<std::tm> now)
    : budget_(&budget), now_(now), scope_(std::make_shared<Scope>(Scope{nullptr, std::move(names)})) {}

Renderer::~Renderer() {
  for (const std::shared_ptr<Namespace>& names : namespaces_) names->entries.clear();
}

MarkedText Renderer::run(const Body& body) {
  MarkedText text;
  out_ = &text;
  execute(body);
  return text;
}

void Renderer::print(const MarkedText& text) {
  budget_->make(text.size());
  out_->append(text);
}

MarkedText Renderer::printed_by(const Body& body) {
  const InnerScope scope(*this);
  MarkedText text;
  MarkedText* const before = std::exchange(out_, &text);
  execute(body);
  out_ = before;
  return text;
}

Renderer::Flow Renderer::execute(const Body& body) {
  const InnerCall inner(*this);
  for (const Statement& statement : body) {
    line_ = statement.line;
    if (const Flow flow = execute(statement); flow != Flow::on) return flow;
  }
  return Flow::on;
}

Renderer::Flow Renderer::execute(const Statement& statement) {
  budget_->step();
  switch (statement.kind) {
    case StatementKind::text:
      print(*statement.value.text());
      break;
    case StatementKind::output:
      print(printed(*budget_, evaluate(*statement.expressions[0])));
      break;
    case StatementKind::choice:
      return choice(statement);
    case StatementKind::loop:
      return loop(statement);
    case StatementKind::set:
      assign(statement.names, evaluate(*statement.expressions[0]));
      break;
    case StatementKind::set_member:
      set_member(statement);
      break;
    case StatementKind::set_block: {
      const Value text = marked_text(*budget_, printed_by(statement.bodies[0]));
      set(statement.names[0], statement.expressions[0] ? through_filters(*statement.expressions[0], text) : text);
      break;
    }
    case StatementKind::macro:
      set(statement.names[0], macro_of(statement));
      break;
    case StatementKind::call_block:
      call_block(statement);
      break;
    case StatementKind::filter_block: {
      const Value text = marked_text(*budget_, printed_by(statement.bodies[0]));
      print(printed(*budget_, through_filters(*statement.expressions[0], text)));
      break;
    }
    case StatementKind::with:
      return with(statement);
    case StatementKind::leave_loop:
      return Flow::leave;
    case StatementKind::next_round:
      return Flow::next;
  }
  return Flow::on;
}

Renderer::Flow Renderer::choice(const Statement& statement) {
  for (std::size_t n = 0; n < statement.expressions.size(); ++n) {
    if (is_true(evaluate(*statement.expressions[n]))) return execute(statement.bodies[n]);
  }
  const bool has_else = statement.bodies.size() > statement.expressions.size();
  return has_else ? execute(statement.bodies.back()) : Flow::on;
}

std::vector<Value> Renderer::loop_items(const Statement& statement) {
  const Value whole = evaluate(*statement.expressions[0]);
  line_ = statement.line;
  std::vector<Value> items = elements(*budget_, whole);
  if (!statement.expressions[1]) return items;
  std::vector<Value> kept;
  for (Value& one : items) {
    const InnerScope scope(*this);
    assign(statement.names, one);
    if (is_true(evaluate(*statement.expressions[1]))) kept.push_back(std::move(one));
  }
  return kept;
}

Renderer::Flow Renderer::loop(const Statement& statement) {
  const Value list = list_of(*budget_, loop_items(statement));
  const std::vector<Value>& items = list.list()->items;
  Flow flow = Flow::on;
  for (std::size_t n = 0; n < items.size() && flow != Flow::leave; ++n) {
    const InnerScope scope(*this);
    budget_->make(sizeof(Scope) + sizeof(Loop));
    set("loop", {std::make_shared<const Loop>(Loop{*list.get<std::shared_ptr<const List>>(), n})});
    assign(statement.names, items[n]);
    flow = execute(statement.bodies[0]);
  }
  if (!items.empty() || statement.bodies.size() < 2) return Flow::on;
  const InnerScope scope(*this);
  return execute(statement.bodies[1]);
}

void Renderer::set(const std::string& name, const Value& value) {
  std::vector<std::pair<std::string, Value>>& names = scope_->names;
  const auto found = std::ranges::find(names, name, &std::pair<std::string, Value>::first);
  if (found != names.end()) {
    found->second = value;
  } else {
    budget_->make(name.size() + sizeof(Value));
    names.emplace_back(name, value);
  }
}

void Renderer::assign(const std::vector<std::string>& names, const Value& value) {
  if (names.size() == 1) return set(names[0], value);
  const std::vector<Value> parts = elements(*budget_, value);
  if (parts.size() != names.size()) {
    throw Fault("expected " + std::to_string(names.size()) + " values for as many names, got " +
                std::to_string(parts.size()));
  }
  for (std::size_t n = 0; n < names.size(); ++n) set(names[n], parts[n]);
}

void Renderer::set_member(const Statement& statement) {
  const Value value = evaluate(*statement.expressions[0]);
  const Value whole = look_up(statement.names[0]);
  line_ = statement.line;
  Namespace* names = whole.name_space();
  if (names == nullptr) throw Fault("expected a namespace whose member is set, got " + kind_of(whole));
  const auto found = std::ranges::find(names->entries, statement.names[1], &std::pair<std::string, Value>::first);
  if (found != names->entries.end()) {
    found->second = value;
  } else {
    names->entries.emplace_back(statement.names[1], value);
  }
}

Renderer::Flow Renderer::with(const Statement& statement) {
  std::vector<Value> values = evaluate_all(statement.expressions);
  const InnerScope scope(*this);
  for (std::size_t n = 0; n < values.size(); ++n) set(statement.names[n], values[n]);
  return execute(statement.bodies[0]);
}

Value Renderer::macro_of(const Statement& statement) {
  budget_->make(sizeof(Callable));
  return {
      std::make_shared<const Callable>(Callable{Callable::Kind::macro, statement.names[0], {}, &statement, scope_})};
}

void Renderer::call_block(const Statement& statement) {
  const Value caller = macro_of(statement.macro[0]);
  const InnerCall inner(*this);
  print(printed(*budget_, call(*statement.expressions[0], &caller)));
}

}  // namespace qkv::text::jinja
