#pragma once
/// Runs a program on a value. The results come one by one: a node with several results leaves a
/// choice behind, and a request for another result goes back to the newest choice.
///
/// Nothing recurses. What is still to be done with a value is a chain of frames, which are never
/// changed, so a choice keeps all of it by a pointer. Frames that were made after a choice are of
/// no use when the machine goes back to it, and are dropped: memory is a stack, too. Only cells
/// change: the state of a loop, the items of a list. A cell keeps values, never something younger.
///
/// After an error nothing more comes, but gojq, asked again, goes back to its oldest choice as if
/// that had failed, and Kurtosis asks again. So does this machine.

#include <deque>
#include <optional>

#include "base/budget.h"
#include "jq/program.h"

namespace fettle::jq {

class Machine {
 public:
  Machine(const Program& program, Json input);

  /// The next result or failure. None: the end. The budget may end it, too: ask `Budget::current`.
  std::optional<Answer> next();

 private:
  struct Activation;
  /// Something to evaluate, and where its names are known.
  struct Closure {
    const Node* node = nullptr;
    const Activation* home = nullptr;
  };
  struct Slot {
    Json value{};
    Closure closure{};
    int64_t label = 0;
  };
  struct Activation {
    Activation() = default;
    Activation(const Activation&) = delete;
    Activation& operator=(const Activation&) = delete;
    ~Activation();
    const Activation* outer = nullptr;
    std::unique_ptr<std::vector<Slot>> slots{};
  };
  /// The steps of a path, the last one first. The step without a key is the beginning.
  struct Path {
    const Path* before = nullptr;
    Json key{};
    Json value{};
    bool is_root = false;
  };
  struct Cell {
    Cell() = default;
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;
    ~Cell();
    void append(Json item);
    Json list();  ///< takes the items
    Json value{};
    Json::List items{};
    bool is_found = false;
  };
  /// The work that is left for the next value.
  enum class Step : uint8_t {
    pipe,
    found,      ///< of `a // b`, what `a` gave
    chosen,     ///< the condition of an `if`
    body_done,  ///< what the body of a `try` gave
    start,      ///< of a loop
    item,       ///< of a loop
    updated,    ///< the state of a loop
    bound,      ///< what a name stands for
    append,     ///< to a list
    member,     ///< a key or a value of a dict
    argument,   ///< of a function in C++
    by_value,   ///< a parameter of a function in jq
    path_done,
    assign,       ///< of `path = b`, what `b` gave
    modify_path,  ///< of `a |= b`, a path
    modified      ///< and what `b` gave for it
  };
  struct Frame {
    Step step;
    const Node* node = nullptr;
    const Activation* home = nullptr;
    const Frame* next = nullptr;
    Json held{};  ///< what the node was given; of something that is computed, that
    uint32_t quiet = 0;
    const Path* path = nullptr;
    Cell* cell = nullptr;
    size_t index = 0;                 ///< which argument or member; how many choices there were
    const Frame* computed = nullptr;  ///< the arguments or members that are computed
    const Function* function = nullptr;
  };
  /// The kind of work that can be done instead.
  enum class Sort : uint8_t {
    branch,       ///< evaluate `node`
    alternative,  ///< the same, if nothing was found
    attempt,      ///< catch a failure
    body_done,    ///< a failure behind it is none of its `try`
    patterns,     ///< the next pattern, after a failure
    label,        ///< a `break` ends here
    end_of_list,
    end_of_loop,
    items,         ///< the next item of `value`
    range,         ///< the next number
    not_modified,  ///< of `a |= b`, nothing was given for a path
    end_of_modify
  };
  struct Marks {
    size_t frames = 0, paths = 0, activations = 0, cells = 0;
  };
  struct Choice {
    Sort sort = Sort::branch;
    const Node* node = nullptr;
    const Activation* home = nullptr;
    const Frame* frame = nullptr;
    const Path* path = nullptr;
    uint32_t quiet = 0;
    Json value{};
    Cell* cell = nullptr;
    size_t index = 0;
    int64_t label = 0;
    Json step{};
    Marks marks{};
  };

  // machine.cc
  bool run();
  void evaluate();
  void emit(Json value);
  void receive(const Frame& frame);
  void fail(Failure failure);
  void answer(Answer given);
  void back();
  bool catches(const Choice& choice);
  void handle(const Choice& choice, Failure failure);
  void resume(Choice& choice);
  Slot& state_of(const Node& loop) const;
  void begin_loop(const Frame& frame);
  void try_pattern(const Node& node, size_t at);
  Choice& choose(Sort sort, const Node* node);
  void go(const Node* node, const Activation* home, Json value);
  Frame& push(Step step, const Node* node);
  Cell& cell(Json value);
  Marks marks() const;
  void give_up(const Marks& marks);
  void cut(size_t choices);

  // machine_calls.cc
  const Activation* outwards(uint32_t hops) const;
  Slot& slot(const Node& node) const;
  Activation& activate(const Function& function, const Activation* outer);
  void enter(const Closure& closure, Json value);
  void call(const Node& node);
  void bind_by_value(const Function& function, const Activation* made, size_t from, Json value);
  void take_by_value(const Frame& frame);
  void next_argument(const Node& node, const Frame* computed, Json held, size_t left);
  void take_argument(const Frame& frame);
  void compute(const Node& node, const Frame* computed);
  void begin_range(const std::vector<Json>& limits);
  void next_number(Choice& choice);
  void next_member(const Node& node, const Frame* computed, Json held, size_t at);
  void take_member(const Frame& frame);
  void make_dict(const Frame* computed);

  // machine_paths.cc
  bool is_intact(const Json& value) const;
  bool is_tracking() const { return path_ != nullptr && quiet_ == 0; }
  void step_to(Json key, Json value);
  void follow(const Node& node, const std::vector<Json>& arguments, Json value);
  void index(const Node& node);
  void index_by(const Json& key);
  void iterate();
  void next_item(Choice& choice);
  void begin_path(const Node* of);
  void end_path(const Frame& frame);
  void begin_modify(const Node& node);
  void modify(const Frame& frame);
  void modified(const Frame& frame);

  std::deque<Frame> frames_;
  std::deque<Path> paths_;
  std::deque<Activation> activations_;
  std::deque<Cell> cells_;
  std::vector<Choice> choices_;
  std::optional<Choice> oldest_;  ///< where to go on after a failure

  // The node that is evaluated now. Without a node, `value_` is a result for `frame_`.
  const Node* node_ = nullptr;
  const Activation* home_ = nullptr;
  const Frame* frame_ = nullptr;
  const Path* path_ = nullptr;
  uint32_t quiet_ = 0;  ///< how many evaluations deep paths are not followed
  Json value_;

  bool goes_back_ = false;
  std::optional<Failure> failure_;
  std::optional<Answer> result_;
  int64_t labels_ = 0;
};

}  // namespace fettle::jq
