#include "starlark/eval/vm.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/out_of_memory.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/ops.h"

namespace fettle::starlark {
namespace {

constexpr size_t most_values = size_t{4} << 20;  ///< 32 MB of address space, used as it is touched
constexpr size_t stack_step = 8192;
constexpr int64_t longest_grant = 16'384;
constexpr size_t most_traced = 100;  ///< frames at each end of a long trace

/// The bytes for registers and, behind them, frames: those of functions, of native ones that called
/// back, and of one that does not begin.
size_t reserved(size_t values, size_t functions) {
  return values * sizeof(Value) + (functions + Vm::deepest_native + 2) * sizeof(Activation);
}

/// The place in the source where the frame of a function is.
uint32_t place_of(const Activation& frame) {
  return frame.pc == nullptr
             ? frame.code->entry_at
             : frame.code->place_of(u32(frame.pc - frame.code->instructions.data()));
}

std::vector<Frame> frames_of(const Vm& vm, const char* native) {
  std::vector<Frame> found;
  const size_t size = vm.frames.size();
  for (size_t i = 0; i < size; ++i) {
    if (size > 2 * most_traced && i == most_traced) {
      i = size - most_traced;
      found.push_back({cat("... ", size - 2 * most_traced, " frames ..."), {"<skipped>", 0, 0}});
    }
    const Activation& frame = vm.frames[i];
    if (frame.code == nullptr) {
      found.push_back({frame.native == nullptr ? "" : frame.native, {"<builtin>", 0, 0}});
      continue;
    }
    found.push_back({std::string(frame.code->name), frame.code->module->where(place_of(frame))});
  }
  if (native != nullptr)
    found.push_back({native, {"<builtin>", 0, 0}});
  return found;
}

}  // namespace

Vm::Vm(Session::State& session_)
    : Vm(session_, std::make_shared<Heap>(session_.budget), most_values) {}

Vm::Vm(Session::State& session_, std::shared_ptr<Heap> heap_, size_t stack_values)
    : session(session_), heap_owner(std::move(heap_)), heap_pointer(heap_owner.get()) {
  if (stack_values > 0) {
    // Each frame has a register of its own, that of the function.
    most_frames = std::min(size_t{session.limits.depth}, stack_values);
    void* memory = mmap(nullptr, reserved(stack_values, most_frames), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      out_of_memory();
    stack = static_cast<Value*>(memory);
    stack_end = stack + stack_values;
    soft_end = stack + stack_step;
    frames = Frames(stack_end);
  }
  heap().evaluation = this;
  session.at_work.push_back(heap_pointer);
  if (session.session->collect_always)
    heap().collect_always();
  if (session.limits.wall_time.count() > 0) {
    has_deadline = true;
    deadline = std::chrono::steady_clock::now() + session.limits.wall_time;
  }
}

Vm::~Vm() {
  flush_steps();
  leave_heap();
  if (stack != nullptr)
    munmap(stack, reserved(size_t(stack_end - stack), most_frames));
}

void Vm::leave_heap() {
  if (heap().evaluation != this)
    return;
  heap().evaluation = nullptr;
  std::erase(session.at_work, heap_pointer);
}

void Session::State::use(std::shared_ptr<Budget> shared) {
  host = nullptr;
  budget = std::move(shared);
  heap = std::make_shared<Heap>(budget);
  heap->make_shared();
  host = std::make_unique<Vm>(*this, heap, 0);
}

uint64_t Session::State::drawn_unused() const {
  uint64_t sum = 0;
  for (const Heap* heap_at_work : at_work)
    sum += heap_at_work->unused();
  return sum;
}

bool Vm::extend_stack(Value* end) {
  if (end > stack_end - 256)
    return false;
  const size_t wanted = size_t(end - stack) + stack_step;
  soft_end = stack + std::min(wanted, size_t(stack_end - stack));
  return true;
}

bool Vm::still_wanted() {
  if (session.session->cancelled.load(std::memory_order_relaxed) ||
      (session.also_cancelled != nullptr &&
       session.also_cancelled->load(std::memory_order_relaxed)))
    fail_limit("Starlark computation cancelled");
  else if (has_deadline && std::chrono::steady_clock::now() > deadline)
    fail_limit("Starlark computation cancelled: out of time");
  else
    return true;
  return false;
}

Value Vm::fail(Failure why) {
  if (failed)
    return Value::error();
  failed = true;
  failure = std::move(why);
  if (!has_steps()) {
    session.budget->set_used_up();
    failure = {Failure::Kind::limit, "Starlark computation cancelled: too many steps", {}};
  }
  return Value::error();
}

Value Vm::fail_as(const char* name) {
  if (failure.kind != Failure::Kind::limit)
    failure.text = cat(name, ": ", failure.text);
  return Value::error();
}

Failure Vm::take_failure() {
  failed = false;
  return std::exchange(failure, {});
}

bool Vm::look(bool may_collect) {
  if (failed)
    return false;
  flush_steps();
  if (!has_steps()) {
    fail(std::string());
    return false;
  }
  if (!still_wanted())
    return false;
  if (may_collect && heap().wants_collection()) {
    collect();
    if (failed)
      return false;
    // Live objects may nearly fill the limit: then collections would never end.
    if (heap().used() > heap().budget->most_bytes() / 8 * 7 && !session.session->collect_always) {
      fail_memory();
      return false;
    }
  }
  if (heap().over_limit()) {
    // In native code the collection has to wait, and it is not known how much is garbage.
    if (may_collect || heap().collections == 0 || heap().used() > heap().budget->most_bytes()) {
      fail_memory();
      return false;
    }
  }
  granted = longest_grant;
  if (session.limits.steps != 0)
    granted = std::min<int64_t>(granted, i64(session.budget->steps_left()));
  ticks = granted;
  return true;
}

void Vm::collect() {
  Heap& h = heap();
  if (!h.begin_marking())
    return;
  Value* const end = top();
  for (Value* v = stack; v < end; ++v)
    h.mark(*v);
  for (const Value v : roots)
    h.mark(v);
  for (const Value v : handles)
    h.mark(v);
  for (const Activation& frame : frames) {
    if (frame.function != nullptr)
      h.mark(frame.function);
  }
  for (ModuleState* module : h.modules)
    h.mark(*module);
  h.end_marking();
  // Registers beyond the live ones may name objects that have been freed.
  if (soft_end > end) {
    std::fill(end, soft_end, Value::unset());
    soft_end = std::min(soft_end, end + stack_step);
    if (soft_end > stack_end)
      soft_end = stack_end;
  }
}

// Long work in the heap is also given up when nobody wants the evaluation any more.
Value Vm::fail_memory() {
  session.budget->set_used_up();
  return fail_limit("out of memory: the limit of this evaluation is reached");
}

Value Vm::fail_with_error(Error error) {
  if (!failed) {
    failed = true;
    has_ready = true;
    failure = {Failure::Kind::program, error.message, {}};
    ready = std::move(error);
  }
  return Value::error();
}

/// Called before a frame of this code is pushed.
void Vm::enter_deep(const Code* code) {
  if (!is_deep())
    for (const Activation& frame : frames)
      ++deep[frame.code];
  deep_from = shallow / 2;
  ++deep[code];
}

/// Called before the last frame is popped. Code that does not run any more stays with 0: it may be
/// called again at once.
void Vm::leave_deep() {
  --deep[frames.back().code];
  if (frames.size() - 1 > deep_from)
    return;
  deep_from = shallow;
  deep = {};
}

Where Vm::position() const {
  for (size_t i = frames.size(); i-- > 0;)
    if (frames[i].code != nullptr)
      return frames[i].code->module->where(place_of(frames[i]));
  return {};
}

std::vector<Frame> Vm::stack_now() const { return frames_of(*this, native); }

void Vm::capture_trace(const Instruction*) {
  if (!failed)
    fail("internal error");  // a refusal of memory that nobody told
  if (!trace.empty())
    return;
  trace = frames_of(*this, native);
  native = nullptr;
  for (size_t i = frames.size(); i-- > 0;) {
    const Activation& frame = frames[i];
    if (frame.code == nullptr)
      continue;
    for (size_t f = trace.size(); f-- > 0;) {
      if (trace[f].where.line > 0) {
        excerpt =
            fettle::excerpt(frame.code->module->source, trace[f].where.line, trace[f].where.column);
        break;
      }
    }
    break;
  }
}

Error Vm::take_error() {
  Error error(blame, failure.message());
  if (has_ready) {
    error = std::move(ready);
  } else {
    error.excerpt = excerpt;
    for (size_t f = trace.size(); f-- > 0;) {
      if (trace[f].where.line > 0) {
        error.where = trace[f].where;
        break;
      }
    }
  }
  // The frames of this evaluation, innermost first; those of a module it loaded are there already.
  for (size_t f = trace.size(); f-- > 0;)
    error.trace.push_back(trace[f].where.line > 0
                              ? cat(to_string(trace[f].where), ": in ", trace[f].function)
                              : cat(trace[f].where.file, ": in ", trace[f].function));
  failed = false;
  has_ready = false;
  blame = Blame::user;
  ready = {};
  failure = {};
  excerpt.clear();
  trace.clear();
  native = nullptr;
  return error;
}

Value Vm::call(Value function, const Value* positional, size_t count, const Value* names,
               const Value* named, size_t named_count) {
  if (native_depth >= deepest_native)
    return fail("Starlark stack overflow: too many nested calls of built-in functions");
  Arguments arguments;
  arguments.positional = positional;
  arguments.count = u32(count);
  arguments.names = names;
  arguments.named = named;
  arguments.named_count = u32(named_count);
  ticks -= 2;
  const char* const outer = native;
  ++native_depth;
  Value result;
  if (is_kind(function, Kind::function)) {
    // The function itself stands below its registers, as for a call in the code.
    Value* const base = top();
    push_frame({nullptr, nullptr, nullptr, base + 1, outer, 0});
    const size_t depth = frames.size();
    native = nullptr;
    if (--ticks < 0 && !look(false)) {
      capture_trace(nullptr);
      result = Value::error();
    } else if (base + 1 + count + 2 > soft_end && !extend_stack(base + 1 + count + 2)) {
      result = fail("Starlark stack overflow");
      capture_trace(nullptr);
    } else {
      base[0] = function;
      if (enter_function(*this, as<Function>(function), base + 1, arguments, 0)) {
        result = run_frames(*this, depth);
      } else {
        capture_trace(nullptr);
        unwind(*this, depth);
        result = Value::error();
      }
    }
    pop_frame();
  } else {
    // A collection must find the values of a native call that calls back again.
    push_frame({nullptr, nullptr, nullptr, top(), outer, 0});
    RootScope kept(*this);
    for (size_t i = 0; i < count; ++i)
      kept.add(positional[i]);
    for (size_t i = 0; i < named_count; ++i)
      kept.add(named[i]);
    result = call_native(*this, function, arguments);
    if (result.is_error())
      capture_trace(nullptr);
    pop_frame();
  }
  --native_depth;
  native = outer;
  return result;
}

Value Vm::run_module(ModuleState& module) {
  auto* function = heap().make<Function>(Kind::function);
  function->code = module.main;
  function->module = &module;
  function->defaults = nullptr;
  function->serial = heap().next_serial();
  Value* const base = top();
  const size_t depth = frames.size();
  const bool is_too_deep = depth > 0 && depth >= most_frames;
  if (is_too_deep || !extend_stack(base + 1 + module.main->registers))
    return fail("Starlark stack overflow");
  base[0] = Value::object(function);
  for (const uint16_t r : module.main->unset_registers)
    base[1 + r] = Value::unset();
  push_frame({module.main, function, module.main->instructions.data(), base + 1, nullptr, 0});
  const Value result = run_frames(*this, depth);
  return failed ? Value::error() : has_steps() ? result : fail(std::string());
}

void unwind(Vm& vm, size_t depth) {
  while (vm.frames.size() > depth) {
    const Activation& left = vm.frames.back();
    if (left.code != nullptr && left.pc != nullptr) {
      const auto at = u32(left.pc - left.code->instructions.data()) - 1;
      for (const LoopRange& loop : left.code->loops) {
        if (loop.begin <= at && at < loop.end && loop.iterator != ~u32(0))
          end_iteration(left.base[loop.iterator]);
      }
    }
    vm.pop_frame();
  }
}

}  // namespace fettle::starlark
