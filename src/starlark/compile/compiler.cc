#include "starlark/compile/compiler.h"

#include <algorithm>
#include <deque>

#include "base/invariant.h"
#include "base/text.h"
#include "starlark/compile/places.h"
#include "starlark/eval/heap.h"
#include "starlark/eval/make.h"
#include "starlark/eval/methods.h"

namespace fettle::starlark {
namespace {

constexpr int no_register = -1;
constexpr uint32_t most_registers = 60'000;

/// What the compiler gathers for one function. Reused: most functions are small.
struct Draft {
  Code* code = nullptr;
  FunctionNode* node = nullptr;
  bool is_file = false;
  uint32_t serial = 0;
  uint32_t next = 0;  ///< first free register
  uint32_t most = 0;
  std::vector<Instruction> instructions;
  std::vector<Value> constants;
  std::vector<Code*> children;
  std::vector<LoadSite> load_sites;
  std::vector<uint16_t> unset;
  std::vector<LoopRange> loops;
  std::vector<PlaceEntry> places;
  std::vector<Binding*> assigned;  ///< what surely has a value now, in order of assignment
  struct Loop {
    int iterator;  ///< register, or none for `while`
    std::vector<size_t> breaks;
    std::vector<size_t> continues;
    size_t range;  ///< index in `loops`
  };
  std::vector<Loop> running;
  std::vector<CallSite*> sites;
  bool far_jumps = false;  ///< offsets of 16 bits do not suffice
  bool too_far = false;

  void clear() {
    next = most = 0;
    instructions.clear();
    constants.clear();
    children.clear();
    load_sites.clear();
    unset.clear();
    loops.clear();
    places.clear();
    assigned.clear();
    running.clear();
    sites.clear();
    far_jumps = too_far = false;
  }
};

class Compiler {
 public:
  Compiler(ModuleState& module, Symbols& symbols) : module_(module), symbols_(symbols) {}

  std::optional<SyntaxError> run(FunctionNode* file, const Resolved& resolved) {
    for (const Binding* global : resolved.globals) {
      module_.global_names.emplace_back(global->symbol->text);
      module_.exported.push_back(!global->loaded);
    }
    module_.globals.assign(resolved.globals.size(), Value::unset());
    module_.main = function(file, true);
    return error_;
  }

 private:
  // Functions.

  Code* function(FunctionNode* node, bool is_file) {
    Code* code = arena().make<CodeHolder>()->code();
    module_.codes.push_back(code);
    code->name = arena().copy(node->name);
    code->at = node->at;
    code->entry_at = place_before_body(node);
    code->module = &module_;
    Draft* outer = draft_;
    if (spare_.empty())
      spare_.push_back(std::make_unique<Draft>());
    std::unique_ptr<Draft> draft = std::move(spare_.back());
    spare_.pop_back();
    draft_ = draft.get();
    draft_->clear();
    body(node, code, is_file);
    if (draft_->too_far) {
      draft_->clear();
      code->children = {};
      draft_->far_jumps = true;
      body(node, code, is_file);
    }
    finish(code);
    spare_.push_back(std::move(draft));
    draft_ = outer;
    return code;
  }

  void body(FunctionNode* node, Code* code, bool is_file) {
    Draft& d = *draft_;
    d.code = code;
    d.node = node;
    d.is_file = is_file;
    d.serial = ++serial_;
    code->parameters = code->keyword_only = 0;
    code->has_rest = code->has_named_rest = false;
    // Registers of parameters come first, those with names before * and **.
    size_t binding = 0;
    std::vector<Binding*> rests(2);
    bool after_star = false;
    for (const ParameterNode& parameter : node->parameters) {
      if (parameter.kind == ParameterKind::bare_star) {
        after_star = true;
        continue;
      }
      Binding* variable = node->bindings[binding++];
      if (parameter.kind == ParameterKind::rest) {
        after_star = true;
        code->has_rest = true;
        rests[0] = variable;
        continue;
      }
      if (parameter.kind == ParameterKind::named_rest) {
        code->has_named_rest = true;
        rests[1] = variable;
        continue;
      }
      if (after_star)
        ++code->keyword_only;
      variable->index = code->parameters++;
    }
    d.next = code->parameters;
    for (Binding* rest : rests) {
      if (rest != nullptr)
        rest->index = d.next++;
    }
    const size_t parameters = d.next;
    for (; binding < node->bindings.size(); ++binding)
      node->bindings[binding]->index = d.next++;
    d.most = d.next;
    if (!after_star && !code->has_named_rest)
      code->simple_arity = code->parameters;
    std::vector<uint16_t> cells;
    for (size_t i = 0; i < node->bindings.size(); ++i) {
      Binding* variable = node->bindings[i];
      variable->assigned = 0;
      if (i < parameters) {
        assign(variable);
        if (variable->scope == Scope::cell)
          cells.push_back(u16(variable->index));
      } else if (variable->scope == Scope::cell) {
        emit(Op::new_cell, variable->index);
      }
    }
    code->cell_registers = arena().copy(std::span<const uint16_t>(cells));
    if (d.next > most_registers) {
      fail(node->at, "too many variables in a function");
      return;
    }
    if (!node->body.empty() && node->body[0]->kind == NodeKind::expression_statement) {
      Node* first = as<ExpressionStatement>(node->body[0])->value;
      if (first->kind == NodeKind::string)
        code->docstring = arena().copy(as<TextNode>(first)->text);
    }
    if (node->result != nullptr) {
      const uint32_t result = expression(node->result);
      emit(Op::return_value, result);
      return;
    }
    if (!statements(node->body))
      emit(Op::return_none);
  }

  void finish(Code* code) {
    Draft& d = *draft_;
    code->instructions = arena().copy(std::span<const Instruction>(d.instructions));
    code->constants = arena().copy(std::span<const Value>(d.constants));
    code->children = arena().copy(std::span<Code* const>(d.children));
    code->load_sites = arena().copy(std::span<const LoadSite>(d.load_sites));
    code->loops = arena().copy(std::span<const LoopRange>(d.loops));
    code->places = arena().copy(std::span<const PlaceEntry>(d.places));
    std::sort(d.unset.begin(), d.unset.end());
    d.unset.erase(std::unique(d.unset.begin(), d.unset.end()), d.unset.end());
    code->unset_registers = arena().copy(std::span<const uint16_t>(d.unset));
    code->has_prologue = !d.unset.empty() || !code->cell_registers.empty();
    code->registers = d.most;
    code->cost = u32(1 + d.instructions.size() / 16);
    auto* sites = static_cast<CallSite*>(arena().take(d.sites.size() * sizeof(CallSite)));
    for (size_t i = 0; i < d.sites.size(); ++i) {
      CallSite* site = new (sites + i) CallSite();
      site->positional = d.sites[i]->positional;
      site->named = d.sites[i]->named;
      site->rest = d.sites[i]->rest;
      site->named_rest = d.sites[i]->named_rest;
      site->names = d.sites[i]->names;
    }
    code->call_sites = {sites, d.sites.size()};
    // Names of registers: for messages and for binding arguments.
    const size_t named = d.node->bindings.size();
    auto* names = static_cast<Value*>(arena().take(named * sizeof(Value)));
    for (const Binding* binding : d.node->bindings)
      names[binding->index] = name_value(binding->symbol);
    code->register_names = {names, named};
    std::vector<Capture> captures;
    for (const Binding* free : d.node->free) {
      const Binding* source = free->outer;
      captures.push_back({source->scope != Scope::free, source->index});
    }
    code->captures = arena().copy(std::span<const Capture>(captures));
  }

  // Statements. Each tells whether what follows it cannot be reached.

  bool statements(std::span<Node*> nodes) {
    for (Node* node : nodes) {
      const uint32_t mark = draft_->next;
      const bool ends = statement(node);
      draft_->next = mark;
      if (ends)
        return true;
      if (error_)
        return false;
    }
    return false;
  }

  bool statement(Node* node) {
    switch (node->kind) {
      case NodeKind::expression_statement: {
        Node* value = as<ExpressionStatement>(node)->value;
        if (value->kind != NodeKind::string)
          expression(value);
        return false;
      }
      case NodeKind::assign:
        assign_statement(as<AssignNode>(node));
        return false;
      case NodeKind::augmented_assign:
        augmented(as<AugmentedAssignNode>(node));
        return false;
      case NodeKind::def_statement: {
        auto* def = as<DefNode>(node);
        const uint32_t made = target_register(def->name);
        make_function(&def->function, made, node->at);
        store(def->name, made);
        return false;
      }
      case NodeKind::return_statement: {
        Node* value = as<ReturnNode>(node)->value;
        const uint32_t result = value == nullptr ? 0 : expression(value);
        for (size_t i = draft_->running.size(); i-- > 0;) {
          if (draft_->running[i].iterator != no_register)
            emit(Op::end_iteration, u32(draft_->running[i].iterator));
        }
        if (value == nullptr)
          emit(Op::return_none);
        else
          emit(Op::return_value, result);
        return true;
      }
      case NodeKind::if_statement:
        return if_statement(as<IfNode>(node));
      case NodeKind::for_statement:
        for_statement(as<ForNode>(node));
        return false;
      case NodeKind::while_statement:
        while_statement(as<WhileNode>(node));
        return false;
      case NodeKind::break_statement: {
        Draft::Loop& loop = draft_->running.back();
        loop.breaks.push_back(jump());
        return true;
      }
      case NodeKind::continue_statement: {
        draft_->running.back().continues.push_back(jump());
        return true;
      }
      case NodeKind::load_statement:
        load_statement(as<LoadNode>(node));
        return false;
      default:
        return false;
    }
  }

  bool if_statement(IfNode* node) {
    const size_t before = draft_->assigned.size();
    std::vector<size_t> to_end;
    std::vector<Binding*> common;
    bool first = true;
    bool all_end = true;
    bool has_else = false;
    for (const Branch& branch : node->branches) {
      std::vector<size_t> to_next;
      const uint32_t mark = draft_->next;
      if (branch.condition != nullptr)
        jump_unless(branch.condition, to_next);
      else
        has_else = true;
      draft_->next = mark;
      const bool ends = statements(branch.body);
      if (!ends) {
        all_end = false;
        // What every branch that goes on assigns is assigned afterwards.
        std::vector<Binding*> mine(draft_->assigned.begin() + i64(before), draft_->assigned.end());
        if (first)
          common = std::move(mine);
        else
          std::erase_if(common, [](const Binding* binding) { return binding->assigned == 0; });
        first = false;
      }
      forget(before);
      if (&branch != &node->branches.back() && !ends)
        to_end.push_back(jump());
      patch(to_next);
    }
    patch(to_end);
    if (has_else && !all_end) {
      for (Binding* binding : common)
        assign(binding);
    }
    return has_else && all_end;
  }

  bool is_universal(Node* node, std::string_view name) const {
    if (node->kind != NodeKind::identifier)
      return false;
    const Binding* binding = as<Identifier>(node)->binding;
    return binding != nullptr && binding->scope == Scope::universal &&
           binding->symbol->text == name;
  }

  /// Whether `node` is `range(…)` with one to three plain arguments, to be counted without an
  /// object.
  bool is_plain_range(Node* node) const {
    if (node->kind != NodeKind::call || !is_universal(as<CallNode>(node)->function, "range"))
      return false;
    const std::span<Argument> arguments = as<CallNode>(node)->arguments;
    return !arguments.empty() && arguments.size() <= 3 &&
           std::all_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
             return argument.kind == ArgumentKind::positional;
           });
  }

  /// Emits the beginning of a loop over `iterable`; gives the register of its state.
  uint32_t begin_loop(Node* iterable, uint32_t at, bool& counted) {
    counted = is_plain_range(iterable);
    const uint32_t state = take(3);
    if (counted) {
      auto* call = as<CallNode>(iterable);
      const uint32_t mark = draft_->next;
      const uint32_t first = take(u32(call->arguments.size()));
      for (size_t i = 0; i < call->arguments.size(); ++i)
        expression_into(call->arguments[i].value, first + u32(i));
      place(call->at);
      emit(Op::iterate_range, state, first, u32(call->arguments.size()));
      draft_->next = mark;
    } else {
      const uint32_t mark = draft_->next;
      const uint32_t value = expression(iterable);
      draft_->next = mark;
      place(at);
      emit(Op::iterate, state, value);
    }
    return state;
  }

  template <typename Body>
  void loop(Node* target, Node* iterable, uint32_t at, Body body) {
    bool counted = false;
    const uint32_t state = begin_loop(iterable, at, counted);
    const size_t range = draft_->loops.size();
    draft_->loops.push_back({u32(draft_->instructions.size()), ~u32(0), counted ? ~u32(0) : state});
    draft_->running.push_back({counted ? no_register : int(state), {}, {}, range});
    const size_t before = draft_->assigned.size();
    const size_t top = draft_->instructions.size();
    const uint32_t item =
        target->kind == NodeKind::identifier ? target_register(as<Identifier>(target)) : take(1);
    place(at);
    emit(counted ? Op::next_range : Op::next, state, item);
    const size_t exit = word(0);
    place(at);
    assign_target(target, item, at);
    body();
    Draft::Loop& mine = draft_->running.back();
    patch(mine.continues);
    jump_to(top);
    weigh_loop(exit - 1);
    draft_->instructions[exit] = offset_word(exit);
    patch(mine.breaks);
    draft_->loops[range].end = u32(draft_->instructions.size());
    if (!counted)
      emit(Op::end_iteration, state);
    draft_->running.pop_back();
    forget(before);
  }

  /// What an iteration costs beyond one step: its instruction at `at` knows by how long the body
  /// is.
  void weigh_loop(size_t at) {
    const size_t length = draft_->instructions.size() - at;
    draft_->instructions[at].c = u16(std::min<size_t>(length / 8, UINT16_MAX));
  }

  void for_statement(ForNode* node) {
    loop(node->target, node->iterable, node->at, [&] { statements(node->body); });
  }

  void while_statement(WhileNode* node) {
    const size_t top = draft_->instructions.size();
    draft_->running.push_back({no_register, {}, {}, 0});
    std::vector<size_t> exits;
    const uint32_t mark = draft_->next;
    const size_t before = draft_->assigned.size();
    jump_unless(node->condition, exits);
    draft_->next = mark;
    place(node->at);
    const size_t tick = draft_->instructions.size();
    emit(Op::tick);
    statements(node->body);
    patch(draft_->running.back().continues);
    jump_to(top);
    weigh_loop(tick);
    patch(exits);
    patch(draft_->running.back().breaks);
    draft_->running.pop_back();
    forget(before);
  }

  void load_statement(LoadNode* node) {
    std::vector<std::string_view> names;
    for (const LoadedName& name : node->names)
      names.push_back(arena().copy(name.name));
    draft_->load_sites.push_back(
        {arena().copy(node->module), arena().copy(std::span<const std::string_view>(names))});
    const uint32_t first = take(u32(names.size()));
    place(node->at);
    emit_wide(Op::load_module, first, draft_->load_sites.size() - 1);
    for (size_t i = 0; i < names.size(); ++i)
      store(node->names[i].local, first + u32(i));
  }

  // Assignment.

  void assign(Binding* binding) {
    if (binding->assigned == 0 && binding->scope != Scope::global) {
      binding->assigned = 1;
      draft_->assigned.push_back(binding);
    }
  }
  void forget(size_t size) {
    while (draft_->assigned.size() > size) {
      draft_->assigned.back()->assigned = 0;
      draft_->assigned.pop_back();
    }
  }

  /// Where the value of a variable should be made: its register, or a fresh one.
  uint32_t target_register(const Identifier* id) {
    const Binding* binding = id->binding;
    if (binding != nullptr && binding->scope == Scope::local)
      return binding->index;
    return take(1);
  }

  void store(Identifier* id, uint32_t value) {
    Binding* binding = id->binding;
    if (binding == nullptr)
      return;
    switch (binding->scope) {
      case Scope::global:
        emit_wide(Op::store_global, value, binding->index);
        break;
      case Scope::cell:
        emit(Op::store_cell, binding->index, value);
        break;
      default:
        if (binding->index != value)
          emit(Op::move, binding->index, value);
        break;
    }
    assign(binding);
  }

  void assign_target(Node* target, uint32_t value, uint32_t at) {
    switch (target->kind) {
      case NodeKind::identifier:
        store(as<Identifier>(target), value);
        break;
      case NodeKind::index: {
        auto* index = as<IndexNode>(target);
        const uint32_t mark = draft_->next;
        const uint32_t object = expression(index->object);
        store_index(object, index->key, value, index->at);
        draft_->next = mark;
        break;
      }
      case NodeKind::attribute: {
        auto* attribute = as<AttributeNode>(target);
        const uint32_t mark = draft_->next;
        const uint32_t object = expression(attribute->object);
        place(attribute->at);
        emit(Op::set_attribute, object, value);
        word(name_constant(attribute->name));
        draft_->next = mark;
        break;
      }
      default: {
        const std::span<Node*> items = as<SequenceNode>(target)->items;
        const uint32_t mark = draft_->next;
        const uint32_t first = take(u32(items.size()));
        place(at);
        emit(Op::unpack, first, value, u32(items.size()));
        for (size_t i = 0; i < items.size(); ++i)
          assign_target(items[i], first + u32(i), at);
        draft_->next = mark;
        break;
      }
    }
  }

  void store_index(uint32_t object, Node* key, uint32_t value, uint32_t at) {
    if (key->kind == NodeKind::string) {
      const size_t k = text_constant(as<TextNode>(key)->text);
      if (k < 65536) {
        place(at);
        emit(Op::set_key, object, u32(k), value);
        return;
      }
    }
    const uint32_t k = expression(key);
    place(at);
    emit(Op::set_index, object, k, value);
  }

  void assign_statement(AssignNode* node) {
    if (node->target->kind == NodeKind::identifier) {
      auto* id = as<Identifier>(node->target);
      const Binding* binding = id->binding;
      if (binding != nullptr && binding->scope == Scope::local && !reads_late(node->value)) {
        expression_into(node->value, binding->index);
        assign(id->binding);
        return;
      }
      const uint32_t value = expression(node->value);
      store(id, value);
      return;
    }
    if (node->target->kind == NodeKind::tuple && node->value->kind == NodeKind::tuple) {
      // `a, b = b, a` needs no tuple.
      const std::span<Node*> targets = as<SequenceNode>(node->target)->items;
      const std::span<Node*> values = as<SequenceNode>(node->value)->items;
      if (targets.size() == values.size() && targets.size() <= 8) {
        const uint32_t first = take(u32(values.size()));
        for (size_t i = 0; i < values.size(); ++i)
          expression_into(values[i], first + u32(i));
        for (size_t i = 0; i < targets.size(); ++i)
          assign_target(targets[i], first + u32(i), node->at);
        return;
      }
    }
    const uint32_t value = expression(node->value);
    assign_target(node->target, value, node->at);
  }

  /// Whether making `node` in a variable's own register could be seen before it is complete: only
  /// an instruction that writes its result last may do that.
  static bool reads_late(Node* node) {
    switch (node->kind) {
      case NodeKind::integer:
      case NodeKind::real:
      case NodeKind::string:
      case NodeKind::bytes:
      case NodeKind::binary:
      case NodeKind::call:
      case NodeKind::index:
      case NodeKind::attribute:
      case NodeKind::slice:
      case NodeKind::list:
      case NodeKind::tuple:
      case NodeKind::dict:
      case NodeKind::comprehension:
      case NodeKind::unary:
      case NodeKind::identifier:
        return false;
      default:
        return true;
    }
  }

  void augmented(AugmentedAssignNode* node) {
    const uint32_t op_at = node->at;
    switch (node->target->kind) {
      case NodeKind::identifier: {
        auto* id = as<Identifier>(node->target);
        const uint32_t old = expression(id);
        const bool own = id->binding != nullptr && id->binding->scope == Scope::local;
        const uint32_t result = own ? id->binding->index : take(1);
        augmented_operation(node->op, result, old, node->value, op_at);
        store(id, result);
        break;
      }
      case NodeKind::index: {
        auto* index = as<IndexNode>(node->target);
        const uint32_t object = expression(index->object);
        const uint32_t key = expression(index->key);
        const uint32_t value = take(1);
        place(index->at);
        emit(Op::get_index, value, object, key);
        augmented_operation(node->op, value, value, node->value, op_at);
        place(index->at);
        emit(Op::set_index, object, key, value);
        break;
      }
      default: {
        auto* attribute = as<AttributeNode>(node->target);
        const uint32_t object = expression(attribute->object);
        const uint32_t value = take(1);
        get_attribute(value, object, attribute);
        augmented_operation(node->op, value, value, node->value, op_at);
        place(attribute->at);
        emit(Op::set_attribute, object, value);
        word(name_constant(attribute->name));
        break;
      }
    }
  }

  void augmented_operation(Token op, uint32_t result, uint32_t left, Node* right, uint32_t at) {
    if (small_operation(op, result, left, right, at))
      return;
    const uint32_t value = expression(right);
    place(at);
    emit(op == Token::plus   ? Op::add_in_place
         : op == Token::pipe ? Op::or_in_place
                             : operation_of(op),
         result, left, value);
  }

  // Conditions.

  /// Jumps to be patched when `node` is false.
  void jump_unless(Node* node, std::vector<size_t>& exits) { condition(node, false, exits); }

  /// Emits a jump, to be patched, that is taken when the truth of `node` is `when`.
  void condition(Node* node, bool when, std::vector<size_t>& exits) {
    const uint32_t mark = draft_->next;
    if (node->kind == NodeKind::unary && as<UnaryNode>(node)->op == Token::kw_not) {
      condition(as<UnaryNode>(node)->operand, !when, exits);
      return;
    }
    if (node->kind == NodeKind::logical) {
      auto* logical = as<LogicalNode>(node);
      if (logical->is_and != when) {
        // `and` is false, `or` is true as soon as one operand is.
        for (Node* operand : logical->operands)
          operand_condition(logical, operand, when, exits);
      } else {
        std::vector<size_t> over;
        for (Node* operand : logical->operands) {
          if (operand != logical->operands.back())
            operand_condition(logical, operand, !when, over);
          else
            operand_condition(logical, operand, when, exits);
        }
        patch(over);
      }
      return;
    }
    if (node->kind == NodeKind::binary && !draft_->far_jumps) {
      auto* binary = as<BinaryNode>(node);
      if (const std::optional<Op> op = jump_for(binary->op, when)) {
        const uint32_t left = expression(binary->left);
        if (binary->right->kind == NodeKind::integer && is_short(binary->right)) {
          const auto shift = u32(Op::jump_equal_small) - u32(Op::jump_equal);
          place(binary->at);
          emit(static_cast<Op>(u32(*op) + shift), left,
               u16(static_cast<int16_t>(as<IntegerNode>(binary->right)->small)));
        } else {
          const uint32_t right = expression(binary->right);
          place(binary->at);
          emit(*op, left, right);
        }
        exits.push_back(draft_->instructions.size() - 1);
        draft_->next = mark;
        return;
      }
    }
    const uint32_t value = expression(node);
    emit(when ? Op::jump_true : Op::jump_false, value);
    exits.push_back(draft_->instructions.size() - 1);
    draft_->next = mark;
  }

  /// What only a later operand checks is not known behind the whole.
  void operand_condition(LogicalNode* logical, Node* operand, bool when,
                         std::vector<size_t>& exits) {
    const size_t before = draft_->assigned.size();
    condition(operand, when, exits);
    if (operand != logical->operands.front())
      forget(before);
  }

  /// The jump that is taken when the comparison holds, or does not; none for other operators.
  static std::optional<Op> jump_for(Token op, bool when) {
    switch (op) {
      case Token::equal_equal:
        return when ? Op::jump_equal : Op::jump_not_equal;
      case Token::not_equal:
        return when ? Op::jump_not_equal : Op::jump_equal;
      case Token::less:
        return when ? Op::jump_less : Op::jump_not_less;
      case Token::less_equal:
        return when ? Op::jump_less_equal : Op::jump_not_less_equal;
      case Token::greater:
        return when ? Op::jump_greater : Op::jump_not_greater;
      case Token::greater_equal:
        return when ? Op::jump_greater_equal : Op::jump_not_greater_equal;
      default:
        return std::nullopt;
    }
  }

  // Expressions.

  /// The register that holds the value; a new one unless it is a plain local.
  uint32_t expression(Node* node) {
    if (node->kind == NodeKind::identifier) {
      const Binding* binding = as<Identifier>(node)->binding;
      if (binding != nullptr && binding->scope == Scope::local) {
        check_assigned(as<Identifier>(node));
        return binding->index;
      }
    }
    const uint32_t result = take(1);
    expression_into(node, result);
    return result;
  }

  void check_assigned(Identifier* id) {
    Binding* binding = id->binding;
    if (binding->assigned != 0)
      return;
    if (binding->scope == Scope::local) {
      draft_->unset.push_back(u16(binding->index));
      place(id->at);
      emit_wide(Op::check_local, binding->index, name_constant(binding->symbol));
      assign(binding);
    }
  }

  void expression_into(Node* node, uint32_t into) {
    const uint32_t mark = draft_->next;
    switch (node->kind) {
      case NodeKind::identifier:
        identifier(as<Identifier>(node), into);
        break;
      case NodeKind::integer: {
        auto* literal = as<IntegerNode>(node);
        if (!literal->large && literal->small <= INT32_MAX)
          emit_wide(Op::load_small, into, u32(literal->small));
        else
          load_constant(into, literal->large ? big_literal(literal) : Value::small(literal->small));
        break;
      }
      case NodeKind::real:
        load_constant(into, make_float(heap(), as<RealNode>(node)->number));
        break;
      case NodeKind::string:
        load_constant(into, text_value(as<TextNode>(node)->text));
        break;
      case NodeKind::bytes:
        load_constant(into, make_bytes(heap(), as<TextNode>(node)->text));
        break;
      case NodeKind::list:
      case NodeKind::tuple:
        sequence(as<SequenceNode>(node), into);
        break;
      case NodeKind::dict:
        dict(as<DictNode>(node), into);
        break;
      case NodeKind::comprehension:
        comprehension(as<ComprehensionNode>(node), into);
        break;
      case NodeKind::unary:
        unary(as<UnaryNode>(node), into);
        break;
      case NodeKind::logical:
        logical(as<LogicalNode>(node), into);
        break;
      case NodeKind::conditional: {
        auto* conditional = as<ConditionalNode>(node);
        std::vector<size_t> to_no;
        const size_t before = draft_->assigned.size();
        jump_unless(conditional->condition, to_no);
        expression_into(conditional->yes, into);
        forget(before);
        std::vector<size_t> to_end{jump()};
        patch(to_no);
        expression_into(conditional->no, into);
        forget(before);
        patch(to_end);
        break;
      }
      case NodeKind::binary:
      case NodeKind::call:
      case NodeKind::attribute:
      case NodeKind::index:
      case NodeKind::slice:
        chain(node, into);
        break;
      case NodeKind::lambda:
        make_function(&as<LambdaNode>(node)->function, into, node->at);
        break;
      default:
        load_constant(into, Value::none());
        break;
    }
    draft_->next = mark;
  }

  void identifier(Identifier* id, uint32_t into) {
    Binding* binding = id->binding;
    if (binding == nullptr)
      return;
    switch (binding->scope) {
      case Scope::local:
        check_assigned(id);
        if (binding->index != into)
          emit(Op::move, into, binding->index);
        break;
      case Scope::cell:
        place(id->at);
        emit(Op::load_cell, into, binding->index, short_name_constant(binding->symbol));
        break;
      case Scope::free:
        place(id->at);
        emit(Op::load_free, into, binding->index, short_name_constant(binding->symbol));
        break;
      case Scope::global:
        place(id->at);
        emit_wide(Op::load_global, into, binding->index);
        break;
      default:
        load_constant(into, binding->value);
        break;
    }
  }

  /// Operators and suffixes whose left operands are operators and suffixes again, without native
  /// stack for each.
  void chain(Node* node, uint32_t into) {
    const size_t bottom = chain_.size();
    for (;;) {
      chain_.push_back(node);
      Node* left = left_of(node);
      if (left == nullptr || left_of(left) == nullptr)
        break;
      node = left;
    }
    bool first = true;
    uint32_t left = 0;
    while (chain_.size() > bottom) {
      Node* link = chain_.back();
      chain_.pop_back();
      const bool last = chain_.size() == bottom;
      // Intermediate results go to one register that nothing else uses.
      const uint32_t result = last ? into : first ? take(1) : left;
      apply(link, result, first ? no_register : int(left));
      left = result;
      first = false;
    }
  }

  /// One link; `given` is the register of its left operand when that was made already.
  void apply(Node* node, uint32_t into, int given) {
    const uint32_t mark = draft_->next;
    switch (node->kind) {
      case NodeKind::binary:
        binary(as<BinaryNode>(node), into, given);
        break;
      case NodeKind::call:
        call(as<CallNode>(node), into, given);
        break;
      case NodeKind::attribute: {
        auto* attribute = as<AttributeNode>(node);
        get_attribute(into, operand(attribute->object, given), attribute);
        break;
      }
      case NodeKind::index: {
        auto* index = as<IndexNode>(node);
        const uint32_t object = operand(index->object, given);
        if (index->key->kind == NodeKind::string) {
          const size_t k = text_constant(as<TextNode>(index->key)->text);
          if (k < 65536) {
            place(index->at);
            emit(Op::get_key, into, object, u32(k));
            break;
          }
        }
        const uint32_t key = expression(index->key);
        place(index->at);
        emit(Op::get_index, into, object, key);
        break;
      }
      default: {
        auto* slice = as<SliceNode>(node);
        const uint32_t first = take(4);
        if (given != no_register)
          emit(Op::move, first, u32(given));
        else
          expression_into(slice->object, first);
        Node* const parts[] = {slice->low, slice->high, slice->step};
        for (uint32_t i = 0; i < 3; ++i) {
          if (parts[i] != nullptr)
            expression_into(parts[i], first + 1 + i);
          else
            load_constant(first + 1 + i, Value::none());
        }
        place(place_of_slice(slice));
        emit(Op::slice, into, first);
        break;
      }
    }
    draft_->next = mark;
  }

  uint32_t operand(Node* node, int given) {
    return given != no_register ? u32(given) : expression(node);
  }

  void get_attribute(uint32_t into, uint32_t object, const AttributeNode* node) {
    place(node->at);
    emit(Op::get_attribute, into, object);
    word(name_constant(node->name));
    word(0);
  }

  static bool is_short(Node* node) {
    return node->kind == NodeKind::integer && !as<IntegerNode>(node)->large &&
           as<IntegerNode>(node)->small <= INT16_MAX;
  }

  static Op operation_of(Token op) {
    switch (op) {
      case Token::plus:
        return Op::add;
      case Token::minus:
        return Op::subtract;
      case Token::star:
        return Op::multiply;
      case Token::slash:
        return Op::divide;
      case Token::slash_slash:
        return Op::floor_divide;
      case Token::percent:
        return Op::modulo;
      case Token::ampersand:
        return Op::bit_and;
      case Token::pipe:
        return Op::bit_or;
      case Token::caret:
        return Op::bit_xor;
      case Token::less_less:
        return Op::shift_left;
      case Token::greater_greater:
        return Op::shift_right;
      case Token::equal_equal:
        return Op::equal;
      case Token::not_equal:
        return Op::not_equal;
      case Token::less:
        return Op::less;
      case Token::less_equal:
        return Op::less_equal;
      case Token::greater:
        return Op::greater;
      case Token::greater_equal:
        return Op::greater_equal;
      case Token::kw_in:
        return Op::contains;
      default:
        return Op::contains_not;
    }
  }

  /// The forms with a small integer on the right.
  bool small_operation(Token op, uint32_t into, uint32_t left, Node* right, uint32_t at) {
    if (!is_short(right))
      return false;
    Op small;
    switch (op) {
      case Token::plus:
        small = Op::add_small;
        break;
      case Token::minus:
        small = Op::subtract_small;
        break;
      case Token::star:
        small = Op::multiply_small;
        break;
      case Token::slash_slash:
        small = Op::floor_divide_small;
        break;
      case Token::percent:
        small = Op::modulo_small;
        break;
      default:
        return false;
    }
    place(at);
    emit(small, into, left, u16(static_cast<int16_t>(as<IntegerNode>(right)->small)));
    return true;
  }

  void binary(BinaryNode* node, uint32_t into, int given) {
    const uint32_t left = operand(node->left, given);
    if (small_operation(node->op, into, left, node->right, node->at))
      return;
    const uint32_t right = expression(node->right);
    place(node->at);
    emit(operation_of(node->op), into, left, right);
  }

  void unary(UnaryNode* node, uint32_t into) {
    if (node->op == Token::minus && node->operand->kind == NodeKind::integer &&
        !as<IntegerNode>(node->operand)->large) {
      const int64_t n = -as<IntegerNode>(node->operand)->small;
      if (n >= INT32_MIN)
        emit_wide(Op::load_small, into, u32(n));
      else
        load_constant(into, Value::small(n));
      return;
    }
    const uint32_t value = expression(node->operand);
    place(node->at);
    emit(node->op == Token::minus   ? Op::negate
         : node->op == Token::plus  ? Op::positive
         : node->op == Token::tilde ? Op::invert
                                    : Op::logical_not,
         into, value);
  }

  void logical(LogicalNode* node, uint32_t into) {
    std::vector<size_t> exits;
    const size_t before = draft_->assigned.size();
    for (Node* operand : node->operands) {
      expression_into(operand, into);
      if (operand != node->operands.back()) {
        emit(node->is_and ? Op::jump_false : Op::jump_true, into);
        exits.push_back(draft_->instructions.size() - 1);
      }
    }
    forget(before);
    patch(exits);
  }

  void sequence(SequenceNode* node, uint32_t into) {
    const bool is_list = node->kind == NodeKind::list;
    constexpr size_t most_at_once = 64;
    if (node->items.size() <= most_at_once || !is_list) {
      if (node->items.size() > 20'000) {
        fail(node->at, "tuple expression has too many items");
        return;
      }
      const uint32_t first = take(u32(node->items.size()));
      for (size_t i = 0; i < node->items.size(); ++i)
        expression_into(node->items[i], first + u32(i));
      place(node->at);
      emit(is_list ? Op::make_list : Op::make_tuple, into, first, u32(node->items.size()));
      return;
    }
    const uint32_t list = take(1);
    place(node->at);
    emit(Op::make_list, list, list, 0);
    for (Node* item : node->items) {
      const uint32_t mark = draft_->next;
      const uint32_t value = expression(item);
      place(node->at);
      emit(Op::append, list, value);
      draft_->next = mark;
    }
    emit(Op::move, into, list);
  }

  void dict(DictNode* node, uint32_t into) {
    const uint32_t made = take(1);
    place(node->at);
    emit_wide(Op::make_dict, made, node->items.size() / 2);
    for (size_t i = 0; i < node->items.size(); i += 2) {
      const uint32_t mark = draft_->next;
      const uint32_t key = expression(node->items[i]);
      const uint32_t value = expression(node->items[i + 1]);
      place(node->colons[i / 2]);
      emit(Op::put_new, made, key, value);
      draft_->next = mark;
    }
    emit(Op::move, into, made);
  }

  void comprehension(ComprehensionNode* node, uint32_t into) {
    const uint32_t made = take(1);
    place(node->at);
    if (node->is_dict)
      emit_wide(Op::make_dict, made, 0);
    else
      emit(Op::make_list, made, made, 0);
    const size_t before = draft_->assigned.size();
    for (Binding* binding : node->bindings) {
      binding->index = take(1);
      binding->assigned = 0;
    }
    clauses(node, 0, made);
    forget(before);
    emit(Op::move, into, made);
  }

  void clauses(ComprehensionNode* node, size_t i, uint32_t made) {
    if (i == node->clauses.size()) {
      const uint32_t mark = draft_->next;
      if (node->is_dict) {
        const uint32_t key = expression(node->key);
        const uint32_t value = expression(node->body);
        place(node->at);
        emit(Op::put, made, key, value);
      } else {
        const uint32_t value = expression(node->body);
        place(node->at);
        emit(Op::append, made, value);
      }
      draft_->next = mark;
      return;
    }
    const Clause& clause = node->clauses[i];
    const uint32_t mark = draft_->next;
    if (!clause.is_for) {
      std::vector<size_t> over;
      const size_t before = draft_->assigned.size();
      jump_unless(clause.value, over);
      draft_->next = mark;
      clauses(node, i + 1, made);
      patch(over);
      forget(before);
      return;
    }
    if (i == 0) {
      // Variables that closures share are one cell for the whole comprehension. They, and those
      // that may be read too early, begin without a value.
      bool counted = false;
      const uint32_t state = begin_loop(clause.value, clause.at, counted);
      for (Binding* binding : node->bindings) {
        if (binding->scope == Scope::cell)
          emit(Op::new_cell, binding->index);
        else if (node->clauses.size() > 1)
          load_constant(binding->index, Value::unset());
      }
      loop_from(clause, state, counted, [&] { clauses(node, i + 1, made); });
    } else {
      bool counted = false;
      const uint32_t state = begin_loop(clause.value, clause.at, counted);
      loop_from(clause, state, counted, [&] { clauses(node, i + 1, made); });
    }
    draft_->next = mark;
  }

  template <typename Body>
  void loop_from(const Clause& clause, uint32_t state, bool counted, Body body) {
    const size_t range = draft_->loops.size();
    draft_->loops.push_back({u32(draft_->instructions.size()), ~u32(0), counted ? ~u32(0) : state});
    const size_t before = draft_->assigned.size();
    const size_t top = draft_->instructions.size();
    const uint32_t item = clause.target->kind == NodeKind::identifier
                              ? target_register(as<Identifier>(clause.target))
                              : take(1);
    place(clause.at);
    emit(counted ? Op::next_range : Op::next, state, item);
    const size_t exit = word(0);
    assign_target(clause.target, item, clause.at);
    body();
    jump_to(top);
    weigh_loop(exit - 1);
    draft_->instructions[exit] = offset_word(exit);
    draft_->loops[range].end = u32(draft_->instructions.size());
    if (!counted)
      emit(Op::end_iteration, state);
    forget(before);
  }

  void make_function(FunctionNode* node, uint32_t into, uint32_t at) {
    const uint32_t mark = draft_->next;
    // An entry for each parameter from the first with a default on; keyword-only ones without a
    // default have the entry `unset`.
    uint32_t defaults = 0;
    bool started = false;
    bool after_star = false;
    std::vector<Node*> fallbacks;
    for (const ParameterNode& parameter : node->parameters) {
      if (parameter.kind == ParameterKind::bare_star || parameter.kind == ParameterKind::rest) {
        after_star = true;
      } else if (parameter.kind == ParameterKind::optional) {
        started = true;
        fallbacks.push_back(parameter.fallback);
      } else if (parameter.kind == ParameterKind::required && (started || after_star)) {
        started = true;
        fallbacks.push_back(nullptr);
      }
    }
    defaults = u32(fallbacks.size());
    const uint32_t first = take(defaults);
    for (uint32_t i = 0; i < defaults; ++i) {
      if (fallbacks[i] != nullptr)
        expression_into(fallbacks[i], first + i);
      else
        load_constant(first + i, Value::unset());
    }
    Code* code = function(node, false);
    code->defaults = u16(defaults);
    draft_->children.push_back(code);
    place(at);
    emit(Op::make_function, into, first, defaults);
    word(draft_->children.size() - 1);
    draft_->next = mark;
  }

  void call(CallNode* node, uint32_t into, int given) {
    bool plain = true;
    for (const Argument& argument : node->arguments)
      plain = plain && argument.kind == ArgumentKind::positional;
    if (plain && node->arguments.size() == 1 && given == no_register &&
        is_universal(node->function, "len")) {
      const uint32_t value = expression(node->arguments[0].value);
      place(node->at);
      emit(Op::length, into, value);
      return;
    }
    const uint32_t base = take(1 + u32(node->arguments.size()) + 2);
    const bool method = node->function->kind == NodeKind::attribute;
    AttributeNode* attribute = method ? as<AttributeNode>(node->function) : nullptr;
    Node* first = method ? attribute->object : node->function;
    if (given != no_register)
      emit(Op::move, base, u32(given));
    else
      expression_into(first, base);
    if (method && !plain)
      get_attribute(base, base, attribute);
    uint32_t next = base + 1;
    for (const Argument& argument : node->arguments)
      expression_into(argument.value, next++);
    const uint32_t count = u32(node->arguments.size());
    if (plain && method) {
      place(attribute->at);  // where a missing method is told
      emit(Op::call_method, base, count, into);
      place(node->at);
      word(name_constant(attribute->name));
      word(std::bit_cast<uint64_t>(find_method_row(attribute->name->text)));
      word(0);
      return;
    }
    place(node->at);
    if (plain) {
      emit(Op::call, base, count, into);
      return;
    }
    auto* site = arena().make<CallSiteHolder>()->site();
    std::vector<Value> names;
    for (const Argument& argument : node->arguments) {
      switch (argument.kind) {
        case ArgumentKind::positional:
          ++site->positional;
          break;
        case ArgumentKind::named:
          ++site->named;
          names.push_back(name_value(argument.name));
          break;
        case ArgumentKind::rest:
          site->rest = true;
          break;
        case ArgumentKind::named_rest:
          site->named_rest = true;
          break;
      }
    }
    for (const Value name : names)
      constant(name);  // kept alive with the other constants
    site->names = arena().copy(std::span<const Value>(names)).data();
    draft_->sites.push_back(site);
    emit(Op::call_general, base, count, into);
    word(draft_->sites.size() - 1);
  }

  // Registers, constants, instructions.

  uint32_t take(uint32_t count) {
    const uint32_t first = draft_->next;
    draft_->next += count;
    if (draft_->next > most_registers) {
      fail(draft_->node->at, "function needs too many registers");
      draft_->next = first;
      return 0;
    }
    draft_->most = std::max(draft_->most, draft_->next);
    return first;
  }

  size_t constant(Value value) {
    draft_->constants.push_back(value);
    return draft_->constants.size() - 1;
  }
  size_t name_constant(Symbol* symbol) {
    name_value(symbol);
    if (symbol->code != draft_->serial) {
      symbol->code = draft_->serial;
      symbol->slot = u32(constant(symbol->value));
    }
    return symbol->slot;
  }
  uint32_t short_name_constant(Symbol* symbol) {
    const size_t k = name_constant(symbol);
    return k < 65536 ? u32(k) : 0;
  }
  void load_constant(uint32_t into, Value value) {
    emit_wide(Op::load_const, into, constant(value));
  }

  Value name_value(Symbol* symbol) {
    if (symbol->value.is_unset())
      symbol->value = make_constant_text(heap(), symbol->text);
    return symbol->value;
  }
  /// Equal texts of one program are one object when they are short enough to be names.
  Value text_value(std::string_view text) {
    if (text.size() <= 7)
      return Value::short_text(text);
    if (text.size() <= 40)
      return name_value(symbols_.find(text));
    return make_constant_text(heap(), text);
  }
  size_t text_constant(std::string_view text) {
    return text.size() <= 40 ? name_constant(symbols_.find(text)) : constant(text_value(text));
  }
  Value big_literal(const IntegerNode* node) {
    return parse_integer(heap(), node->digits, node->radix);
  }

  void place(uint32_t at) { draft_->places.push_back({u32(draft_->instructions.size()), at}); }
  void emit(Op op, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0) {
    draft_->instructions.push_back({op, u16(a), u16(b), u16(c)});
  }
  void emit_wide(Op op, uint32_t a, uint64_t bc) { emit(op, a, u32(bc & 0xffff), u32(bc >> 16)); }
  size_t word(uint64_t bits) {
    draft_->instructions.push_back(std::bit_cast<Instruction>(bits));
    return draft_->instructions.size() - 1;
  }
  /// The distance from behind the word at `from` to here.
  Instruction offset_word(size_t from) const {
    return std::bit_cast<Instruction>(u64(draft_->instructions.size() - from - 1));
  }
  size_t jump() {
    emit(Op::jump);
    return draft_->instructions.size() - 1;
  }
  void jump_to(size_t target) {
    const int64_t offset = i64(target) - i64(draft_->instructions.size()) - 1;
    emit_wide(Op::jump, 0, u32(offset));
  }
  void patch(const std::vector<size_t>& jumps) {
    for (const size_t from : jumps) {
      const int64_t offset = i64(draft_->instructions.size()) - i64(from) - 1;
      Instruction& instruction = draft_->instructions[from];
      if (instruction.op == Op::jump || instruction.op == Op::jump_true ||
          instruction.op == Op::jump_false) {
        instruction.b = u16(offset & 0xffff);
        instruction.c = u16(offset >> 16);
      } else {
        if (offset > INT16_MAX)
          draft_->too_far = true;
        instruction.c = u16(offset);
      }
    }
  }

  void fail(uint32_t at, std::string message) {
    if (!error_)
      error_ = SyntaxError{at, std::move(message)};
  }

  Arena& arena() { return module_.arena; }
  Heap& heap() { return *module_.heap; }

  /// The arena destroys nothing; codes are destroyed by their module, call sites need it not.
  struct CodeHolder {
    alignas(Code) std::byte bytes[sizeof(Code)];
    Code* code() { return new (bytes) Code(); }
  };
  struct CallSiteHolder {
    alignas(CallSite) std::byte bytes[sizeof(CallSite)];
    CallSite* site() { return new (bytes) CallSite(); }
  };

  ModuleState& module_;
  Symbols& symbols_;
  Draft* draft_ = nullptr;
  std::vector<std::unique_ptr<Draft>> spare_;
  std::vector<Node*> chain_;
  uint32_t serial_ = 0;
  std::optional<SyntaxError> error_;
};

}  // namespace

std::optional<SyntaxError> compile(FunctionNode* file, const Resolved& resolved,
                                   ModuleState& module, Symbols& symbols) {
  return Compiler(module, symbols).run(file, resolved);
}

uint32_t Code::place_of(uint32_t pc) const {
  if (pc == 0)  // not begun
    return entry_at;
  --pc;
  auto after =
      std::upper_bound(places.begin(), places.end(), pc,
                       [](uint32_t value, const PlaceEntry& entry) { return value < entry.pc; });
  return after == places.begin() ? at : std::prev(after)->at;
}

Code::~Code() {
  for (Binding8* binding = bindings.load(); binding != nullptr;) {
    Binding8* next = binding->next;
    delete binding;
    binding = next;
  }
}

ModuleState::~ModuleState() {
  for (Code* code : codes)
    code->~Code();
}

}  // namespace fettle::starlark
