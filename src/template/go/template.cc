#include "template/go/template.h"

#include "base/budget.h"
#include "base/text.h"
#include "template/go/functions.h"
#include "template/go/parser.h"

namespace fettle::go_template {
namespace {

/// A value, or none at all: what a missing key of a map is.
using Maybe = std::optional<Value>;

class Execution {
 public:
  Execution(const std::string& name, const std::map<std::string, std::unique_ptr<Node>>& defined,
            const Limits& limits)
      : name_(name),
        defined_(defined),
        limits_(limits),
        budget_({.steps = limits.steps, .bytes = limits.made}) {}

  Result<std::string> run(const Node& root, const Value& data) {
    const Budget::Scope scope(budget_);
    variables_.push_back({"$", data});
    TRY(walk(root, data));
    return std::move(output_);
  }

 private:
  struct Variable {
    std::string name;
    Maybe value;
  };
  enum class Flow { on, breaks, continues };

  /// Go counts columns of what it executes from 0.
  Error fail(Place place, std::string_view at, std::string message) const {
    Error error = error_at(name_, place, {});
    error.message = cat("template: ", name_, ":", place.line, ":", place.column - 1,
                        ": executing \"", running_, "\" at <", at, ">: ", message);
    return error;
  }

  static std::string text_of(const Command& command) {
    std::string text;
    for (const Operand& operand : command.operands)
      text += cat(text.empty() ? "" : " ", operand.text);
    return text;
  }

  Status spend(uint64_t steps, Place place) {
    if (budget_.spend(steps))
      return {};
    return error_at(name_, place,
                    budget_.is_out_of_memory() ? "rendering needs too much memory"
                                               : "rendering takes too long");
  }

  Status put(std::string_view text, Place place) {
    TRY(spend(text.size() / 64, place));
    if (output_.size() + text.size() > limits_.output)
      return error_at(name_, place, cat("the output is larger than ", limits_.output, " bytes"));
    output_ += text;
    return {};
  }

  Result<Flow> walk(const Node& node, const Maybe& dot) {
    TRY(spend(1, node.place));
    switch (node.type) {
      case Node::list:
        for (const auto& child : node.children)
          if (const Flow flow = TRY(walk(*child, dot)); flow != Flow::on)
            return flow;
        return Flow::on;
      case Node::text:
        TRY(put(node.text_, node.place));
        return Flow::on;
      case Node::action: {
        const Maybe value = TRY(evaluate(*node.pipe, dot));
        if (node.pipe->variables.empty())
          TRY(put(value && !value->is_null() ? printed(*value) : "<no value>", node.place));
        return Flow::on;
      }
      case Node::branch_if:
      case Node::branch_with:
        return branch(node, dot);
      case Node::loop:
        return loop(node, dot);
      case Node::call:
        return call(node, dot);
      case Node::break_loop:
        return Flow::breaks;
      case Node::continue_loop:
        return Flow::continues;
    }
    return Flow::on;
  }

  Result<Flow> branch(const Node& node, const Maybe& dot) {
    const size_t variables = variables_.size();
    const Maybe value = TRY(evaluate(*node.pipe, dot));
    const bool taken = value && truth(*value);
    Flow flow = Flow::on;
    if (taken)
      flow = TRY(walk(*node.then, node.type == Node::branch_with ? value : dot));
    else if (node.otherwise)
      flow = TRY(walk(*node.otherwise, dot));
    variables_.resize(variables);
    return flow;
  }

  Result<Flow> loop(const Node& node, const Maybe& dot) {
    const size_t variables = variables_.size();
    const Maybe over = TRY(evaluate_commands(*node.pipe, dot));
    bool any = false, stopped = false;
    const auto once = [&](const Value& key, const Value& item) -> Status {
      any = true;
      const size_t inner = variables_.size();
      bind_loop(*node.pipe, key, item);
      const Flow flow = TRY(walk(*node.then, item));
      variables_.resize(inner);
      stopped = flow == Flow::breaks;
      return {};
    };
    if (over && over->is_list()) {
      for (size_t i = 0; i < over->items().size() && !stopped; ++i)
        TRY(once(i, over->items()[i]));
    } else if (over && over->is_dict()) {
      for (size_t i = 0; i < over->entries().size() && !stopped; ++i)
        TRY(once(over->entries()[i].key, over->entries()[i].value));
    } else if (over && over->is_integer() && over->integer()) {
      if (node.pipe->variables.size() > 1)
        return fail(node.pipe->commands[0].operands[0].place,
                    node.pipe->commands[0].operands[0].text,
                    cat("can't use ", printed(*over), " to iterate over more than one variable"));
      for (int64_t i = 0; i < *over->integer() && !stopped; ++i)
        TRY(once(i, i));
    } else if (over && !over->is_null()) {
      return fail(node.pipe->commands[0].operands[0].place, text_of(node.pipe->commands[0]),
                  cat("range can't iterate over ", printed(*over)));
    }
    if (!any && node.otherwise)
      TRY(walk(*node.otherwise, dot));
    variables_.resize(variables);
    return Flow::on;
  }

  /// A single variable is the element; two are index and element.
  void bind_loop(const Pipe& pipe, const Value& key, const Value& item) {
    const std::vector<std::string>& names = pipe.variables;
    for (size_t i = 0; i < names.size(); ++i) {
      const Value& value = names.size() == 2 && i == 0 ? key : item;
      if (pipe.assigns)
        assign(names[i], value);
      else
        variables_.push_back({names[i], value});
    }
  }

  Result<Flow> call(const Node& node, const Maybe& dot) {
    const auto found = defined_.find(node.text_);
    const auto text = [&] {
      return cat("{{template \"", node.text_, "\"", node.pipe ? " " : "",
                 node.pipe ? node.pipe->text : "", "}}");
    };
    if (found == defined_.end())
      return fail(node.place, text(), cat("template \"", node.text_, "\" not defined"));
    if (++depth_ > limits_.depth)
      return fail(node.place, text(), cat("exceeded maximum template depth (", limits_.depth, ")"));
    const Maybe data = node.pipe ? TRY(evaluate(*node.pipe, dot)) : Maybe();
    std::vector<Variable> outer{{"$", data}};
    std::swap(outer, variables_);
    std::string caller = std::exchange(running_, node.text_);
    TRY(walk(*found->second, data));
    running_ = std::move(caller);
    std::swap(outer, variables_);
    --depth_;
    return Flow::on;
  }

  void assign(const std::string& name, const Maybe& value) {
    for (auto variable = variables_.rbegin(); variable != variables_.rend(); ++variable)
      if (variable->name == name) {
        variable->value = value;
        return;
      }
  }

  Result<Maybe> evaluate(const Pipe& pipe, const Maybe& dot) {
    const Maybe value = TRY(evaluate_commands(pipe, dot));
    for (const std::string& name : pipe.variables) {
      if (pipe.assigns)
        assign(name, value);
      else
        variables_.push_back({name, value});
    }
    return value;
  }

  Result<Maybe> evaluate_commands(const Pipe& pipe, const Maybe& dot) {
    Maybe value;
    bool first = true;
    for (const Command& command : pipe.commands) {
      value = TRY(evaluate(command, dot, first ? nullptr : &value));
      first = false;
    }
    return value;
  }

  /// `piped`: the value of the command before, the last argument.
  Result<Maybe> evaluate(const Command& command, const Maybe& dot, const Maybe* piped) {
    TRY(spend(1, command.operands[0].place));
    const Operand& head = command.operands[0];
    if (head.type == Operand::nil)
      return fail(head.place, "nil", "nil is not a command");
    if (head.type != Operand::function) {
      if (command.operands.size() == 1 && piped == nullptr)
        return evaluate(head, dot);
      return fail(head.place, head.text,
                  head.fields.empty()
                      ? cat("can't give argument to non-function ", head.text)
                      : cat(head.fields.back(), " is not a method but has arguments"));
    }
    const size_t count = command.operands.size() - 1 + (piped != nullptr ? 1 : 0);
    if (const std::string wrong = wrong_count(head.name, count); !wrong.empty())
      return fail(head.place, head.name, wrong);
    const bool all = head.name == "and", any = head.name == "or";
    std::vector<Value> arguments;
    for (size_t i = 1; i < command.operands.size(); ++i) {
      arguments.push_back(TRY(evaluate(command.operands[i], dot)).value_or(Value()));
      // They stop at the argument that decides.
      if ((all && !truth(arguments.back())) || (any && truth(arguments.back())))
        return Maybe(arguments.back());
    }
    if (piped != nullptr)
      arguments.push_back(piped->value_or(Value()));
    if (all || any)
      return Maybe(arguments.back());
    return called(head, arguments, text_of(command));
  }

  Result<Maybe> called(const Operand& head, std::span<const Value> arguments,
                       const std::string& text) {
    Result<Value> result = call_function(head.name, arguments);
    if (result && result->is_text())
      budget_.take(result->text().size());
    TRY(spend(1, head.place));
    if (!result)
      return fail(head.place, text, cat("error calling ", head.name, ": ", result.error().message));
    return Maybe(std::move(*result));
  }

  Result<Maybe> evaluate(const Operand& operand, const Maybe& dot) {
    switch (operand.type) {
      case Operand::literal:
        return Maybe(operand.value);
      case Operand::nil:
        return Maybe(Value());
      case Operand::dot:
        return dot;
      case Operand::field:
        return fields(operand, dot, dot);
      case Operand::pipe:
        return fields(operand, TRY(evaluate(*operand.inner, dot)), dot);
      case Operand::function:
        if (const std::string wrong = wrong_count(operand.name, 0); !wrong.empty())
          return fail(operand.place, operand.text, wrong);
        return called(operand, {}, operand.text);
      case Operand::variable: {
        for (auto variable = variables_.rbegin(); variable != variables_.rend(); ++variable)
          if (variable->name == operand.name)
            return fields(operand, variable->value, dot);
        return fail(operand.place, operand.text, cat("undefined variable: ", operand.name));
      }
    }
    return Maybe();
  }

  Result<Maybe> fields(const Operand& operand, Maybe value, const Maybe&) const {
    bool inside = false;
    for (const std::string& field : operand.fields) {
      // A missing key has missing fields, too; nil has none.
      if (!value)
        return value;
      if (value->is_null() && (inside || operand.type != Operand::pipe))
        return fail(operand.place, operand.text,
                    cat("nil pointer evaluating interface {}.", field));
      if (value->is_null())
        return Maybe();
      if (!value->is_dict())
        return fail(operand.place, operand.text,
                    cat("can't evaluate field ", field, " in type ",
                        inside ? "interface {}" : go_type(*value)));
      const Value* found = value->find(field);
      value = found == nullptr ? Maybe() : Maybe(Value(*found));
      inside = true;
    }
    return value;
  }

  const std::string& name_;
  const std::map<std::string, std::unique_ptr<Node>>& defined_;
  const Limits& limits_;
  std::string running_ = name_;  ///< the template that is executed
  std::string output_;
  std::vector<Variable> variables_;
  Budget budget_;
  int depth_ = 0;
};

}  // namespace

Template::Template() = default;
Template::~Template() = default;
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;

Result<Template> Template::parse(std::string name, std::string_view text) {
  Template made;
  made.name_ = std::move(name);
  made.text_ = text;
  Result<ParseResult> parsed = go_template::parse(made.name_, made.text_);
  if (!parsed) {
    Error error = std::move(parsed).error();
    error.excerpt = excerpt(text, error.where.line, error.where.column);
    return error;
  }
  made.root_ = std::move(parsed->root);
  made.defined_ = std::move(parsed->defined);
  return made;
}

Result<std::string> Template::render(const Value& data, const Limits& limits) const {
  Result<std::string> rendered = Execution(name_, defined_, limits).run(*root_, data);
  if (!rendered && rendered.error().excerpt.empty())
    rendered.error().excerpt =
        excerpt(text_, rendered.error().where.line, rendered.error().where.column);
  return rendered;
}

}  // namespace fettle::go_template
