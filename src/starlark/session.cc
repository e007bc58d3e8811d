/// Sessions, modules and threads: the interface of `starlark.h` on the machine.

#include <algorithm>
#include <unordered_map>

#include "base/invariant.h"
#include "base/text.h"
#include "starlark/compile/compiler.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/lib/library.h"
#include "starlark/outside.h"
#include "starlark/scan.h"
#include "starlark/starlark.h"
#include "starlark/syntax/lexer.h"
#include "starlark/syntax/parser.h"
#include "starlark/syntax/syntax_error.h"

namespace fettle::starlark {

struct Module::State : ModuleState {
  /// The loadable names, for programs that load thousands.
  std::unordered_map<std::string_view, uint32_t> index;

  void index_globals() {
    index.reserve(globals.size());
    for (uint32_t i = 0; i < globals.size(); ++i) {
      if (exported[i] && !globals[i].is_unset())
        index.try_emplace(global_names[i], i);
    }
  }
};

namespace {

constexpr uint32_t deepest_loading = 100;

struct CompileRequest {
  std::string file;
  std::string_view text;
  std::span<const NamedValue> names;
  bool expression = false;
};

/// Parses, resolves and compiles into a new module of `heap`.
Result<std::shared_ptr<Module::State>> compile_text(Session::State& session,
                                                    const std::shared_ptr<Heap>& heap,
                                                    CompileRequest request) {
  auto module = std::make_shared<Module::State>();
  module->file = request.file;
  module->source = source_text(request.text);
  module->heap = heap;
  module->session = session.heap;
  Arena arena;
  Symbols symbols(arena);
  LexerOptions options = lexer_options(session.dialect);
  options.most_bytes = heap->budget->left() + heap->unused();
  session.failed_before_running = true;
  const uint64_t before = heap->used();
  const ParsedFile parsed = request.expression
                                ? parse_expression(module->source, arena, symbols, options)
                                : parse_file(module->source, arena, symbols, options);
  if (parsed.error)
    return syntax_error(request.file, module->source, Lines(module->source), *parsed.error);
  const ResolveInput input = resolve_input(session, module->file, module->source, request.names);
  const ResolveResult resolved = resolve(parsed.file, arena, input);
  if (!resolved.errors.empty()) {
    const Lines lines(module->source);
    Error error = syntax_error(request.file, module->source, lines, resolved.errors[0]);
    for (const SyntaxError& problem : resolved.errors) {
      const auto [line, column] = lines.at(problem.at);
      error.trace.push_back(
          cat(to_string(Where{request.file, line, column}), ": ", problem.message));
    }
    return error;
  }
  const auto no_memory = [&] {
    return user_error("out of memory: the limit of this evaluation is reached",
                      {request.file, 1, 1});
  };
  // Code takes no more room than the tree.
  if (!heap->may_take(2 * arena.bytes()))
    return no_memory();
  if (const std::optional<SyntaxError> problem = compile(parsed.file, resolved, *module, symbols))
    return syntax_error(request.file, module->source, Lines(module->source), *problem);
  if (!heap->may_take(module->bytes()))
    return no_memory();
  heap->count(i64(module->bytes()));
  heap->expect_to_stay(heap->used() - before);
  session.failed_before_running = false;
  return module;
}

/// Freezes all that a finished module holds: it becomes part of a heap that nobody changes.
void freeze_module(Module::State& module) {
  for (const Value v : module.globals)
    freeze_value(v, true);
  for (const Code* code : module.codes) {
    for (const Value v : code->constants)
      freeze_value(v, true);
    for (const Value v : code->register_names)
      freeze_value(v, true);
  }
  module.is_frozen = true;
}

/// Whether a function runs from which a module is loaded.
bool runs_function(const Vm& vm) {
  return vm.is_within_function ||
         std::any_of(vm.frames.begin(), vm.frames.end(), [](const Activation& frame) {
           return frame.code != nullptr && frame.code != frame.code->module->main;
         });
}

}  // namespace

Dialect Dialect::of(Profile profile) {
  Dialect dialect;
  dialect.profile = profile;
  if (profile == Profile::spec)
    dialect.set = true;
  return dialect;
}

HeapAccess Call::heap() const { return thread.heap(); }

// Session.

Session::Session(Dialect dialect, Limits limits) : state_(std::make_shared<State>()) {
  state_->dialect = dialect;
  state_->limits = limits;
  state_->session = this;
  state_->use(std::make_shared<Budget>(limits.memory, limits.steps));
}

Session::~Session() {
  state_->host = nullptr;
  state_->session = nullptr;
}

HeapAccess Session::heap() { return HeapAccess(*state_->host); }

void Session::predeclare(std::string_view name, Value value) {
  freeze_value(value, true);
  for (auto& [known, old] : state_->predeclared) {
    if (known == name) {
      old = value;
      return;
    }
  }
  state_->predeclared.emplace_back(name, value);
}

Result<ModulePtr> Session::run(std::string file, std::string_view text) {
  Thread thread(*this);
  return run(thread, std::move(file), text);
}

Result<ModulePtr> Session::run(Thread& from, std::string file, std::string_view text) {
  Vm& caller = from.state();
  if (state_->nesting >= deepest_loading)
    return from.error("modules load each other too deeply");
  caller.flush_steps();
  Thread thread(*this);
  Vm& vm = thread.state();
  vm.caller = &caller;
  vm.is_within_function = runs_function(caller);
  vm.has_deadline = caller.has_deadline;
  vm.deadline = caller.deadline;
  auto module = TRY(compile_text(*state_, vm.heap_owner, {std::move(file), text, {}, false}));
  vm.heap().modules.push_back(module.get());
  const uint64_t compiled = vm.heap().used();  // which is no garbage
  ++state_->nesting;
  const Value result = vm.run_module(*module);
  --state_->nesting;
  vm.flush_steps();
  if (vm.heap().used() > compiled + Heap::first_threshold / 2)
    vm.collect();
  freeze_module(*module);
  module->loaded = std::move(vm.loaded);
  std::erase(vm.heap().modules, module.get());
  vm.leave_heap();
  vm.heap().settle();
  if (result.is_error())
    return vm.take_error();
  module->index_globals();
  return std::make_shared<const Module>(module);
}

uint64_t Session::steps() const { return state_->steps; }
uint64_t Session::memory() const { return state_->budget->drawn() - state_->drawn_unused(); }
bool Session::failed_before_running() const { return state_->failed_before_running; }

// Module.

const std::string& Module::name() const { return state_->file; }

std::optional<Value> Module::get(std::string_view global) const {
  const auto found = state_->index.find(global);
  return found == state_->index.end() ? std::nullopt
                                      : std::optional(state_->globals[found->second]);
}

std::vector<std::pair<std::string, Value>> Module::globals() const {
  std::vector<std::pair<std::string, Value>> found;
  for (size_t i = 0; i < state_->globals.size(); ++i) {
    if (state_->exported[i] && !state_->globals[i].is_unset())
      found.emplace_back(state_->global_names[i], state_->globals[i]);
  }
  return found;
}

struct ModuleCache::Slot {
  bool running = true;
  std::optional<Result<ModulePtr>> result;
};

Result<ModulePtr> ModuleCache::get(const std::string& name, const Make& make) {
  for (const auto& [known, slot] : slots_) {
    if (known != name)
      continue;
    if (slot->running)
      return user_error(cat("cycle in load graph: ", name, " is loaded while it loads"));
    return *slot->result;
  }
  const auto slot = std::make_shared<Slot>();
  slots_.emplace_back(name, slot);
  slot->result = make();
  slot->running = false;
  return *slot->result;
}

// Thread.

Thread::Thread(Session& session) : state_(new State(session.state())) {}
Thread::~Thread() {
  if (owned_)
    delete state_;
}

HeapAccess Thread::heap() { return HeapAccess(*state_); }
Session& Thread::session() const { return *state_->session.session; }
std::vector<Frame> Thread::stack() const { return state_->stack_now(); }

Where Thread::position() const {
  for (const Vm* vm = state_; vm != nullptr; vm = vm->caller)
    if (Where found = vm->position(); found.line > 0)
      return found;
  return {};
}

Error Thread::error(std::string message) const {
  return user_error(std::move(message), position());
}
void Thread::keep(ModulePtr module) { state_->loaded.push_back(std::move(module)); }
bool Thread::charge(uint64_t steps) { return state_->charge(steps); }
Error Thread::limit_reached() const { return user_error(state_->failure.message()); }

Result<Value> Thread::call(Value function, std::span<const Value> positional,
                           std::span<const NamedValue> named) {
  Vm& vm = *state_;
  std::vector<Value> names, values;
  for (const NamedValue& argument : named) {
    names.push_back(make_text(vm.heap(), argument.name));
    values.push_back(argument.value);
  }
  const bool outermost = vm.frames.empty();
  const bool failed_before = vm.failed;
  INVARIANT(!failed_before);
  const Value result = vm.call(function, positional.data(), positional.size(), names.data(),
                               values.data(), values.size());
  if (outermost)
    vm.flush_steps();
  if (result.is_error()) {
    if (vm.trace.empty())
      vm.capture_trace(nullptr);
    return vm.take_error();
  }
  return result;
}

namespace {

/// Runs a text in the heap of the thread. The heap keeps its code as long as one of its functions
/// is reached: a failed text may have put some into a list that was there before.
Result<std::shared_ptr<Module::State>> run_in(Thread& thread, CompileRequest request,
                                              Value& result) {
  Vm& vm = thread.state();
  auto module = TRY(compile_text(vm.session, vm.heap_owner, std::move(request)));
  vm.heap().modules.push_back(module.get());
  result = vm.run_module(*module);
  vm.flush_steps();
  std::erase(vm.heap().modules, module.get());
  module->heap = nullptr;  // which owns the module from now on
  module->reached = vm.heap().collections;
  vm.heap().own(module);
  if (result.is_error())
    return vm.take_error();
  module->index_globals();
  return module;
}

}  // namespace

Result<Value> Thread::evaluate(std::string file, std::string_view expression,
                               std::span<const NamedValue> names) {
  Value result;
  TRY(run_in(*this, {std::move(file), expression, names, true}, result));
  return result;
}

Result<std::vector<std::pair<std::string, Value>>> Thread::execute(
    std::string file, std::string_view text, std::span<const NamedValue> names) {
  Value result;
  return Module(TRY(run_in(*this, {std::move(file), text, names, false}, result))).globals();
}

// Handle.

Handle::Handle(Thread& thread, Value value) : thread_(&thread.state()) {
  if (thread_->free_handles.empty()) {
    slot_ = thread_->handles.size();
    thread_->handles.push_back(value);
  } else {
    slot_ = thread_->free_handles.back();
    thread_->free_handles.pop_back();
    thread_->handles[slot_] = value;
  }
}
Handle::~Handle() {
  thread_->handles[slot_] = Value::unset();
  thread_->free_handles.push_back(slot_);
}
Value Handle::get() const { return thread_->handles[slot_]; }

}  // namespace fettle::starlark
