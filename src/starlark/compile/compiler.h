#pragma once
/// Turns a resolved tree into register code, in one walk over each function.
///
/// Code for a stack machine is easier to make: each expression pushes its value. It is slower,
/// since `x = a + b` then takes four instructions, three of which only move values; with registers
/// it is one, `add x a b`. The hard part of a compiler for registers is to know who uses which
/// register, and when it is free again. The usual answer is to find the last use of each value.
/// That takes another pass over each function, which is too much for programs that run once. A few
/// rules suffice instead.
///
/// The registers of a function, from 0 on:
///
///     parameters, then those of `*` and `**`   where the caller has put them
///     other variables                          one each, as long as the function runs
///     temporaries                              a stack, which ends at `Draft::next`
///
/// `take` gives the next temporaries. Code that takes some remembers `Draft::next` before, and sets
/// it back when their values have been used; `expression_into` does so for all that it takes.
/// `Draft::most` becomes the size of the frame. Variables of a comprehension are temporaries of it.
/// The register of a variable that an inner function uses holds a cell, which has the value.
///
/// * A variable is used where it is. `expression` of a local variable emits no move and answers its
///   register. That is safe, because no expression of Starlark assigns a local variable of its
///   function: an assignment is a statement, a comprehension has variables of its own, and what an
///   inner function can change is in a cell.
/// * A value is made where it is wanted. `x = a + b` writes into the register of `x`, since one
///   instruction reads both operands before it writes; if it fails, `x` is as it was. `x = x or y`
///   would write `x` too early and goes through a temporary (`reads_late`).
/// * Arguments are not copied. A call puts the function into a temporary and the arguments behind
///   it, and the registers of the callee begin at its first argument. Therefore parameters come
///   first, and above the arguments there is nothing that the caller still needs.
/// * A variable is checked only where it may have no value. `Binding::assigned` says whether it
///   surely has one at this point of the walk; what only a branch or the body of a loop has
///   assigned is taken back behind it (`forget`). `check_local` stands before a read without that
///   certainty, and only the registers of such reads are cleared when the function begins.
///
/// A register that is no longer needed keeps its value until it is written again. To a collection
/// it is alive, which may keep an object for a while and never frees one too early.
///
/// A loop over `range(…)` counts without an object. Comparisons in conditions are jumps, which have
/// 16 bits for the way; a function that is too long for them is compiled once more without them
/// (`Draft::far_jumps`).

#include <bit>
#include <memory>
#include <optional>
#include <vector>

#include "base/text.h"
#include "starlark/compile/draft.h"
#include "starlark/heap/heap.h"
#include "starlark/resolve/resolve.h"

namespace fettle::starlark {

/// Compiles into `module`. Constants are made in its heap.
std::optional<SyntaxError> compile(FunctionNode* file, const ResolveResult& resolved,
                                   ModuleState& module, Symbols& symbols);

/// Emits the code of a file, function by function. The names of statements.cc, loops.cc,
/// assignment.cc, conditions.cc, expressions.cc and calls.cc say what they hold.
class Compiler {
 public:
  Compiler(ModuleState& module, Symbols& symbols) : module_(module), symbols_(symbols) {}

  std::optional<SyntaxError> run(FunctionNode* file, const ResolveResult& resolved);

 private:
  // Functions.

  Code* function(FunctionNode* node, bool is_file);
  void body(FunctionNode* node, Code* code, bool is_file);
  void finish(Code* code);

  // Statements. Each function returns whether code behind the statement cannot be reached.

  bool statements(std::span<Node*> nodes);
  bool statement(Node* node);
  bool if_statement(IfNode* node);
  bool is_universal(Node* node, std::string_view name) const;

  /// Whether `node` is `range(…)` with one to three plain arguments, so that it can be counted
  /// without an object.
  bool is_plain_range(Node* node) const;

  /// Emits the beginning of a loop over `iterable`. Returns the register of its state.
  uint32_t begin_loop(Node* iterable, uint32_t at, bool& counted);

  template <typename Body>
  void loop(Node* target, Node* iterable, uint32_t at, Body body);

  /// Adds the cost of an iteration beyond one step: the length of the body becomes known to the
  /// instruction at `at`.
  void weigh_loop(size_t at);
  void for_statement(ForNode* node);
  void while_statement(WhileNode* node);
  void load_statement(LoadNode* node);

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

  /// The register in which the value of a variable should be made: its own, or a fresh one.
  uint32_t target_register(const Identifier* id);
  void store(Identifier* id, uint32_t value);
  void assign_target(Node* target, uint32_t value, uint32_t at);
  void store_index(uint32_t object, Node* key, uint32_t value, uint32_t at);
  void assign_statement(AssignNode* node);

  /// Whether a half-made `node` could be seen if it were made in the register of a variable. This
  /// is safe only for an instruction that writes its result last.
  static bool reads_late(Node* node);
  void augmented(AugmentedAssignNode* node);
  void augmented_operation(Token op, uint32_t result, uint32_t left, Node* right, uint32_t at);

  // Conditions.

  /// Emits jumps that are taken if `node` is false. They are patched later.
  void jump_unless(Node* node, std::vector<size_t>& exits);

  /// Emits a jump that is taken if the truth of `node` is `when`. It is patched later.
  void condition(Node* node, bool when, std::vector<size_t>& exits);

  /// Behind a condition, nothing is known of what only a later operand checks.
  void operand_condition(LogicalNode* logical, Node* operand, bool when,
                         std::vector<size_t>& exits);

  /// The jump that is taken if the comparison holds, or does not hold. None: other operators.
  static std::optional<Op> jump_for(Token op, bool when);

  // Expressions.

  /// The register that holds the value: a new one, unless it is a plain local variable.
  uint32_t expression(Node* node);
  void check_assigned(Identifier* id);
  void expression_into(Node* node, uint32_t into);
  void identifier(Identifier* id, uint32_t into);

  /// Compiles operators and suffixes whose left operands are operators and suffixes again, without
  /// recursion.
  void chain(Node* node, uint32_t into);

  /// Compiles one link. `given` is the register of its left operand, if that was made already.
  void apply(Node* node, uint32_t into, int given);
  uint32_t operand(Node* node, int given);
  void method_words(Op op, uint32_t a, uint32_t b, uint32_t c, const AttributeNode* attribute,
                    uint32_t at);
  void get_attribute(uint32_t into, uint32_t object, const AttributeNode* node);

  static bool is_short(Node* node) {
    return node->kind == NodeKind::integer && !as<IntegerNode>(node)->large &&
           as<IntegerNode>(node)->small <= INT16_MAX;
  }

  static Op operation_of(Token op);

  /// Compiles operations with a small integer on the right.
  bool small_operation(Token op, uint32_t into, uint32_t left, Node* right, uint32_t at);
  void binary(BinaryNode* node, uint32_t into, int given);
  void unary(UnaryNode* node, uint32_t into);
  void logical(LogicalNode* node, uint32_t into);
  void sequence(SequenceNode* node, uint32_t into);
  void dict(DictNode* node, uint32_t into);
  void comprehension(ComprehensionNode* node, uint32_t into);
  /// A clause whose end is not emitted yet.
  struct OpenClause {
    uint32_t mark;             ///< registers in use before it
    size_t before;             ///< variables that surely had a value
    std::vector<size_t> over;  ///< of an `if`: jumps behind what it holds back
    uint32_t state = 0;        ///< of a `for`
    bool counted = false;
    size_t range = 0;
    size_t top = 0;
    size_t exit = 0;
  };
  void item(ComprehensionNode* node, uint32_t made);
  OpenClause begin_clause(ComprehensionNode* node, size_t i);
  void end_clause(const Clause& clause, const OpenClause& open);
  void make_function(FunctionNode* node, uint32_t into, uint32_t at);
  void call(CallNode* node, uint32_t into, int given);

  // Registers, constants, instructions.

  uint32_t take(uint32_t count);

  size_t constant(Value value) {
    draft_->constants.push_back(value);
    return draft_->constants.size() - 1;
  }
  size_t name_constant(Symbol* symbol);
  uint32_t short_name_constant(Symbol* symbol) {
    const size_t k = name_constant(symbol);
    if (k > 0xffff)
      fail(draft_->node->at, "function has too many names");
    return k & 0xffff;
  }
  void load_constant(uint32_t into, Value value);
  Value name_value(Symbol* symbol);
  /// Equal texts of one program are one object if they are short enough to be names.
  Value text_value(std::string_view text);
  size_t text_constant(std::string_view text);
  Value big_literal(const IntegerNode* node);

  void place(uint32_t at) { draft_->places.push_back({u32(draft_->instructions.size()), at}); }
  void emit(Op op, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0) {
    if ((a | b | c) > 0xffff)
      fail(draft_->node->at, "function is too large");
    draft_->instructions.push_back({op, u16(a), u16(b), u16(c)});
  }
  void emit_wide(Op op, uint32_t a, uint64_t bc) {
    emit(op, a, u32(bc & 0xffff), u32(bc >> 16 & 0xffff));
  }
  size_t word(uint64_t bits) {
    draft_->instructions.push_back(std::bit_cast<Instruction>(bits));
    return draft_->instructions.size() - 1;
  }
  /// The distance from the end of the word at `from` to here.
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
  void patch(const std::vector<size_t>& jumps);

  void fail(uint32_t at, std::string message) {
    if (!error_)
      error_ = SyntaxError{at, std::move(message)};
  }

  Arena& arena() { return module_.arena; }
  Heap& heap() { return *module_.heap; }

  /// The arena destroys nothing. The module destroys codes, and call sites do not need it.
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

}  // namespace fettle::starlark
