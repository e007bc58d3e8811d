#pragma once
/// The state of one evaluation (`Thread::State`): a stack of registers, frames, a heap, and the
/// counters of its limits.
///
/// Invariants:
///
/// * A collection finds values in registers below `top()`, in globals and constants of modules that
///   run (`Heap::modules`), in the functions of frames, in `roots` and in `handles`, and nowhere
///   else. Native code that keeps a value while it calls back puts it into `roots` (`RootScope`); a
///   host keeps one by a `Handle`.
/// * A collection happens at safe points alone: `look(true)`, which the machine calls where an
///   instruction counts steps or is about to allocate. So native code may hold values in variables
///   of its own until it calls back, and may allocate as it likes.
/// * The machine keeps the pc in a register. The frame has the pc, behind the instruction that
///   runs, as of the last `SAVE`. A `SAVE` stands before everything that can push a frame, call a
///   host, collect, or show the stack. A frame that has not begun has none.
///
/// A function that can fail returns `Value::error()` or false after `vm.fail(message)`. The message
/// is kept, and the machine unwinds the frames.

#include <chrono>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "starlark/code/code.h"
#include "starlark/eval/failure.h"
#include "starlark/heap/heap.h"
#include "starlark/starlark.h"

namespace fettle::starlark {

struct Vm;

/// The arguments of a native function, in registers or in memory that a root holds.
struct Arguments {
  Value self;  ///< of a method
  const Value* positional = nullptr;
  uint32_t count = 0;
  uint32_t named_count = 0;
  const Value* names = nullptr;
  const Value* named = nullptr;
  const Builtin* function = nullptr;  ///< null for a method that was called directly
  const char* name = "";
};

/// A running function. One without code stands for a native function that called back.
struct Activation {
  const Code* code;
  Function* function;
  const Instruction* pc;  ///< behind the instruction that runs or that called
  Value* base;
  const char* native;
  uint16_t into;  ///< register of the caller that receives the result
};

/// Frames, the innermost last, in memory that was reserved for as many as there can be.
class Frames {
 public:
  Frames() = default;
  explicit Frames(void* memory) : begin_(static_cast<Activation*>(memory)), end_(begin_) {}
  size_t size() const { return size_t(end_ - begin_); }
  bool empty() const { return end_ == begin_; }
  Activation& back() const { return end_[-1]; }
  Activation& operator[](size_t i) const { return begin_[i]; }
  Activation* begin() const { return begin_; }
  Activation* end() const { return end_; }
  Activation* push_back(const Activation& frame) { return new (end_++) Activation(frame); }
  void pop_back() { --end_; }

 private:
  Activation* begin_ = nullptr;
  Activation* end_ = nullptr;
};

struct Session::State {
  Dialect dialect;
  Limits limits;
  Session* session = nullptr;
  std::shared_ptr<Budget> budget;
  /// The flag of the session for which this one reads ahead.
  const std::atomic<bool>* also_cancelled = nullptr;
  std::shared_ptr<Heap> heap;  ///< of values that the host made
  std::unique_ptr<Vm> host;    ///< the evaluation that makes them
  /// Call this before anything is made.
  void use(std::shared_ptr<Budget> shared);
  uint64_t drawn_unused() const;  ///< of the budget, by heaps at work
  std::vector<const Heap*> at_work;
  std::vector<std::pair<std::string, Value>> predeclared;
  uint64_t steps = 0;
  uint64_t output = 0;
  bool failed_before_running = false;
  uint32_t nesting = 0;  ///< of runs inside runs
};

struct Vm : Work {
  /// Makes an evaluation in a heap of its own, or one in that of the session, without a stack.
  explicit Vm(Session::State& session_);
  Vm(Session::State& session_, std::shared_ptr<Heap> heap_, size_t stack_values);
  virtual ~Vm();
  Vm(const Vm&) = delete;
  Vm& operator=(const Vm&) = delete;

  Session::State& session;
  std::shared_ptr<Heap> heap_owner;
  Heap* heap_pointer;
  Heap& heap() { return *heap_pointer; }
  const Dialect& dialect() const { return session.dialect; }
  bool is_spec() const { return session.dialect.profile == Profile::spec; }

  // Registers.
  Value* stack = nullptr;
  Value* stack_end = nullptr;
  Value* soft_end = nullptr;  ///< nothing was written from here on since the last collection
  Frames frames;
  size_t most_frames = 0;           ///< of functions; native ones that call back come on top
  const char* native = nullptr;     ///< the native function that was called last
  Vm* caller = nullptr;             ///< the evaluation that loads a module by this one
  bool is_within_function = false;  ///< of a caller, which this one may call again

  // Limits.
  std::chrono::steady_clock::time_point deadline{};
  bool has_deadline = false;
  /// From now on, its heap belongs to another one.
  void leave_heap();
  /// Makes room for registers up to `end`. False: the stack is full.
  bool extend_stack(Value* end);
  uint32_t native_depth = 0;
  /// How many running frames have code whose id has these low bits. 0 shows at once that a function
  /// does not run, which has to be known for every call if recursion is not allowed.
  static constexpr size_t active_slots = 4096;
  uint32_t active[active_slots] = {};
  uint32_t& active_of(const Code* code) { return active[code->id % active_slots]; }
  /// How many frames run each code, once there are more than `shallow`: a stack of thousands of
  /// functions fills all slots, and must not be searched for each call. Kept until half of them are
  /// gone, so that calls back and forth do not start the count again each time.
  static constexpr size_t shallow = 256;
  std::unordered_map<const Code*, uint32_t> deep;
  size_t deep_from = shallow;  ///< frames; lower while `deep` is kept
  bool is_deep() const { return deep_from < shallow; }
  void pop_frame() {
    if (const Code* code = frames.back().code; code != nullptr)
      --active_of(code);
    if (frames.size() > deep_from) [[unlikely]]
      leave_deep();
    frames.pop_back();
  }
  Activation* push_frame(const Activation& frame) {
    if (frame.code != nullptr)
      ++active_of(frame.code);
    if (frames.size() >= deep_from) [[unlikely]]
      enter_deep(frame.code);
    return frames.push_back(frame);
  }
  void enter_deep(const Code* code);
  void leave_deep();
  static constexpr uint32_t deepest_native = 200;

  /// Looks at limits, cancellation and collection. False: the evaluation must end. Call it at safe
  /// points only; `charge` does not collect.
  bool look(bool may_collect);
  bool still_wanted() override;
  bool charge(uint64_t steps) {
    if (steps > u64(1) << 60)
      steps = u64(1) << 60;
    ticks -= i64(steps);
    return ticks >= 0 || look(false);
  }
  bool has_steps() const {
    return session.limits.steps == 0 ||
           session.budget->steps() + u64(granted - ticks) <= session.limits.steps;
  }
  void flush_steps() {
    const auto done = u64(granted - ticks);
    session.steps += done;
    session.budget->add_steps(done);
    granted = ticks;
  }
  /// Called before every instruction that allocates: collects if a collection is wanted.
  void collect();
  Value* top() const {
    return frames.empty()
               ? stack
               : frames.back().base + (frames.back().code ? frames.back().code->registers : 0);
  }

  // Values that native code holds while it calls back.
  std::vector<Value> roots;
  /// Slots for `Handle`.
  std::vector<Value> handles;
  std::vector<size_t> free_handles;
  std::vector<std::shared_ptr<const Module>> loaded;

  uint64_t plain_bytes = 0;  ///< of plain values that are being made
  std::string scratch;       ///< room for texts that are being formatted

  // The failure.
  bool failed = false;
  Failure failure;
  Blame blame = Blame::user;
  std::vector<Frame> trace;  ///< outermost first, of where it happened
  std::string excerpt;
  Error ready;  ///< an error of the host or of a module, given on as it is
  bool has_ready = false;

  /// The first failure stays. If the steps are used up, that is the failure: work that is charged
  /// after it was done may have used them.
  Value fail(Failure why);
  Value fail(std::string text) {
    return fail(Failure{Failure::Kind::program, std::move(text), {}});
  }
  Value fail_limit(std::string text) {
    return fail(Failure{Failure::Kind::limit, std::move(text), {}});
  }
  template <typename... Pieces>
  Value fail_with(const Pieces&... pieces) {
    return fail(cat(pieces...));
  }
  Value fail_memory();
  Value fail_with_error(Error error);
  /// The failure of `name`, which called the code that failed. A limit belongs to nobody.
  Value fail_as(const char* name);
  /// Goes on after a failure, which the caller gets.
  Failure take_failure();
  void capture_trace(const Instruction* pc);
  std::vector<Frame> stack_now() const;
  /// The place of the innermost function. Line 0: none runs.
  Where position() const;
  Error take_error();

  Value call(Value function, const Value* positional, size_t count, const Value* names = nullptr,
             const Value* named = nullptr, size_t named_count = 0);
  Value call1(Value function, Value argument) { return call(function, &argument, 1); }
  Value run_module(ModuleState& module);
};

/// Keeps values in `vm.roots` during a scope.
class RootScope {
 public:
  explicit RootScope(Vm& vm) : vm_(vm), size_(vm.roots.size()) {}
  ~RootScope() { vm_.roots.resize(size_); }
  RootScope(const RootScope&) = delete;
  RootScope& operator=(const RootScope&) = delete;
  void add(Value value) { vm_.roots.push_back(value); }

 private:
  Vm& vm_;
  size_t size_;
};

struct Thread::State : Vm {
  using Vm::Vm;
};

/// Leaves the frames above `depth`. What they iterate over may change again.
void unwind(Vm& vm, size_t depth);
/// Runs frames until the one at `depth` returns.
Value run_frames(Vm& vm, size_t depth);
/// Pushes a call of a Starlark function. Its registers begin at `base`, where the arguments may
/// stand already. False: the arguments do not match.
bool enter_function(Vm& vm, Function* function, Value* base, const Arguments& arguments,
                    uint16_t into);

}  // namespace fettle::starlark
