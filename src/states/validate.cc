#include "states/validate.h"

#include <algorithm>

#include "base/text.h"
#include "states/compilation.h"
#include "states/reference.h"
#include "value/hidden.h"

namespace fettle::states {
namespace {

/// Dictionaries and lists that grow in the order in which things are found.
struct Group {
  Name key;
  std::vector<Value> items;
};

std::vector<Value>& items_of(std::vector<Group>& groups, const Name& key) {
  for (Group& group : groups)
    if (group.key == key)
      return group.items;
  return groups.emplace_back(Group{key, {}}).items;
}

Value pair(const Name& key, Value value) { return Value::dict({{key, std::move(value)}}); }

/// The `arg_bind` of a body: what was written by hand, and all references in arguments.
class Bindings {
 public:
  void add(const Name& state, const Name& id, const Name& source, const Name& target) {
    for (State& known : states_)
      if (known.name == state) {
        add_to(items_of(known.ids, id), source, target);
        return;
      }
    State& made = states_.emplace_back(State{state, {}});
    add_to(items_of(made.ids, id), source, target);
  }

  bool is_empty() const { return states_.empty(); }

  Value value() const {
    std::vector<Value> states;
    for (const State& state : states_) {
      std::vector<Value> ids;
      for (const Group& group : state.ids)
        ids.push_back(pair(group.key, Value::list(group.items)));
      states.push_back(pair(state.name, Value::list(std::move(ids))));
    }
    return Value::list(std::move(states));
  }

 private:
  struct State {
    Name name;
    std::vector<Group> ids;
  };
  static void add_to(std::vector<Value>& paths, const Name& source, const Name& target) {
    const Value path = pair(source, target);
    if (std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.push_back(path);
  }
  std::vector<State> states_;
};

/// A key as a step of a path.
std::string step_of(const Name& key) {
  return replace_all(replace_all(key, "[", "\\["), "]", "\\]");
}

/// Visits every text below an argument with its path, in the order of the file.
template <typename Visit>
void each_text(const std::string& name, const TreeNode& top, const Visit& visit) {
  std::vector<std::pair<std::string, const TreeNode*>> open{{name, &top}};
  while (!open.empty()) {
    const auto [path, node] = std::move(open.back());
    open.pop_back();
    if (node->is_text())
      visit(path, node->text());
    const size_t begin = open.size();
    for (size_t i = 0; i < node->items().size(); ++i)
      open.emplace_back(cat(path, "[", i, "]"), node->items()[i]);
    for (const TreeMember& entry : node->entries())
      open.emplace_back(cat(path, ":", step_of(entry.key->text())), entry.value);
    std::reverse(open.begin() + static_cast<ptrdiff_t>(begin), open.end());
  }
}

Bindings bindings_of(const Body& body) {
  Bindings made;
  for (const HandBinding& binding : body.bindings)
    made.add(binding.state, binding.id, binding.source, binding.target);
  for (const Argument& argument : body.arguments) {
    if (!argument.document->refers)
      continue;
    each_text(step_of(argument.name), *argument.value,
              [&](const std::string& path, const Name& text) {
                if (may_refer(text))
                  for (const Piece& piece : pieces_of(text))
                    if (piece.reference) {
                      const Reference& reference = *piece.reference;
                      const Name id = reference.resource.empty()
                                          ? reference.id
                                          : Name(cat(reference.id, "[", reference.resource, "]"));
                      made.add(reference.state, id, reference.path, path);
                    }
              });
  }
  return made;
}

/// The requisites as they are written, by name.
std::vector<Group> wishes_of(const Body& body) {
  std::vector<Group> groups;
  for (const Wish& wish : body.wishes)
    items_of(groups, wish.requisite->name).push_back(pair(wish.state, wish.target));
  return groups;
}

/// The value of an argument. Hidden if the body calls it sensitive.
Value told_value(const Body& body, const Argument& argument) {
  const Value value = value_of(*argument.value);
  std::set<Name> names;
  for (const Argument& other : body.arguments)
    if (other.name == "sensitive")
      for (const TreeNode* name : other.value->items())
        if (name->is_text())
          names.insert(name->text());
  return names.empty() || argument.name == "sensitive"
             ? value
             : hidden_at(pair(argument.name, value), names).at(argument.name);
}

Value order_value(double order) {
  const auto whole = static_cast<int64_t>(order);
  return static_cast<double>(whole) == order ? Value(whole) : Value(order);
}

Value low_entry(const Chunk& chunk, const Body& body) {
  std::vector<Entry> entries;
  for (const Argument& argument : body.arguments)
    entries.push_back({argument.name, told_value(body, argument)});
  for (Group& group : wishes_of(body))
    entries.push_back({group.key, Value::list(std::move(group.items))});
  if (const Bindings bindings = bindings_of(body); !bindings.is_empty())
    entries.push_back({"arg_bind", bindings.value()});
  std::erase_if(entries, [](const Entry& entry) { return entry.key == "names"; });
  entries.push_back({"state", chunk.state});
  entries.push_back({"fun", chunk.function});
  entries.push_back({"name", chunk.name});
  entries.push_back({"__id__", chunk.id});
  entries.push_back({"__sls__", chunk.sls});
  entries.push_back({"order", order_value(chunk.order)});
  return Value::dict(std::move(entries));
}

/// The list of a body as Idem has it after arranging: what was written, its order, its function,
/// then what came from elsewhere.
class HighList {
 public:
  explicit HighList(const Body& body) : body_(body), wishes_(wishes_of(body)) {}

  Value make() {
    if (body_.list != nullptr)
      for (const TreeNode* item : body_.list->items()) {
        if (item->is_text())
          add_function();
        for (const TreeMember& entry : item->entries())
          add(entry.key->text());
      }
    if (body_.implicit_order != 0)
      items_.push_back(pair("order", body_.implicit_order));
    add_function();
    add("arg_bind");
    for (const Argument& argument : body_.arguments)
      add(argument.name);
    for (const Group& group : wishes_)
      add(group.key);
    return Value::list(std::move(items_));
  }

 private:
  void add_function() {
    if (!std::exchange(has_function_, true))
      items_.push_back(body_.function);
  }

  void add(const Name& name) {
    if (!known_.insert(name).second)
      return;
    if (name == "arg_bind") {
      if (const Bindings bindings = bindings_of(body_); !bindings.is_empty())
        items_.push_back(pair(name, bindings.value()));
      return;
    }
    for (const Group& group : wishes_)
      if (group.key == name)
        items_.push_back(pair(name, Value::list(group.items)));
    const Argument* found = nullptr;
    for (const Argument& argument : body_.arguments)
      if (argument.name == name)
        found = &argument;
    if (found != nullptr)
      items_.push_back(pair(name, told_value(body_, *found)));
  }

  const Body& body_;
  std::vector<Group> wishes_;
  std::vector<Value> items_;
  std::set<Name> known_;
  bool has_function_ = false;
};

Value high_value(const High& high) {
  std::vector<Entry> declarations;
  for (const Declaration& one : high.declarations) {
    std::vector<Entry> bodies{{"__sls__", one.document->ref}};
    for (const Body& body : one.bodies)
      if (body.name_order <= 1)
        bodies.push_back({body.state, HighList(body).make()});
    declarations.push_back({one.id, Value::dict(std::move(bodies))});
  }
  return Value::dict(std::move(declarations));
}

Value meta_value(const High& high) {
  std::vector<Entry> files, ids;
  for (const auto& [ref, meta] : high.metas)
    files.push_back({ref, value_of(*meta)});
  for (const Declaration& one : high.declarations)
    if (one.meta != nullptr)
      ids.push_back({cat(one.document->ref, ".", one.id), value_of(*one.meta)});
  return Value::dict(
      {{"SLS", Value::dict(std::move(files))}, {"ID_DECS", Value::dict(std::move(ids))}});
}

/// Finds which parameters occur in which declaration.
class ParameterUse {
 public:
  explicit ParameterUse(const ParameterRequest& asked) : asked_(asked) { note(asked, ""); }

  Value global() const { return asked_.below.empty() ? Value("") : all(asked_, true, nullptr); }

  /// The paths that occur in a declaration; a path stands before those below it.
  std::vector<std::string> in(const Declaration& declaration) const {
    std::vector<std::string> found;
    find(declaration.id, found);
    for (const Body& body : declaration.bodies) {
      find(body.state, found);
      find(body.function, found);
      for (const Argument& argument : body.arguments) {
        find(argument.name, found);
        find_below(*argument.value, found);
      }
      for (const Wish& wish : body.wishes) {
        find(wish.state, found);
        find(wish.target, found);
      }
    }
    std::vector<std::string> all;
    std::set<std::string> known;
    for (const std::string& path : found)
      for (size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
        if (known.insert(path.substr(0, dot)).second)
          all.push_back(path.substr(0, dot));
        if (dot == path.npos)
          break;
      }
    return all;
  }

  Value used(const std::vector<std::string>& paths) const {
    const std::set<std::string> only(paths.begin(), paths.end());
    return all(asked_, false, &only);
  }

  /// The paths that a meta does not describe.
  static std::vector<Value> missing(const std::vector<std::string>& paths, const TreeNode* meta) {
    const TreeNode* described = meta == nullptr ? nullptr : meta->find("params");
    std::vector<Value> found;
    for (const std::string& path : paths)
      if (!describes(described, path))
        found.emplace_back(path);
    return found;
  }

 private:
  void note(const ParameterRequest& asked, const std::string& path) {
    for (const auto& [key, below] : asked.below) {
      const std::string inner = path.empty() ? key : cat(path, ".", key);
      paths_.emplace(below->shown, inner);
      note(*below, inner);
    }
  }

  static bool describes(const TreeNode* described, std::string_view path) {
    const TreeNode* node = described;
    for (const std::string_view step : split(path, '.'))
      node = node == nullptr || !node->is_dict() ? nullptr : node->find(step);
    return node != nullptr || (described != nullptr && described->find(path) != nullptr);
  }

  Value all(const ParameterRequest& asked, bool with_defaults, const std::set<std::string>* only,
            const std::string& path = "") const {
    std::vector<Entry> entries;
    for (const auto& [key, below] : asked.below) {
      const std::string inner = path.empty() ? key : cat(path, ".", key);
      if (only != nullptr && !only->contains(inner))
        continue;
      entries.push_back({key, below->below.empty() ? (with_defaults ? below->otherwise : Value(""))
                                                   : all(*below, with_defaults, only, inner)});
    }
    return Value::dict(std::move(entries));
  }

  /// Finds the words of parameters in a text. They end with braces, and so may a default inside.
  void find(std::string_view text, std::vector<std::string>& found) const {
    constexpr std::string_view begin = "{{ params", end = " }}";
    constexpr int most_ends = 8;
    for (size_t at = text.find(begin); at != text.npos; at = text.find(begin, at + 1)) {
      size_t close = at;
      for (int i = 0; i < most_ends; ++i) {
        close = text.find(end, close + 1);
        if (close == text.npos)
          break;
        const auto known = paths_.find(text.substr(at, close + end.size() - at));
        if (known != paths_.end()) {
          found.push_back(known->second);
          break;
        }
      }
    }
  }

  void find_below(const TreeNode& top, std::vector<std::string>& found) const {
    std::vector<const TreeNode*> open{&top};
    while (!open.empty()) {
      const TreeNode* node = open.back();
      open.pop_back();
      if (node->is_text())
        find(node->text(), found);
      for (size_t i = node->items().size(); i-- > 0;)
        open.push_back(node->items()[i]);
      for (size_t i = node->entries().size(); i-- > 0;) {
        open.push_back(node->entries()[i].value);
        open.push_back(node->entries()[i].key);
      }
    }
  }

  const ParameterRequest& asked_;
  std::map<std::string, std::string, std::less<>> paths_;  ///< by the words that ask for them
};

}  // namespace

Validation validate(std::span<const std::string> words, Files& files, CompileOptions options) {
  options.given_params = Params::asking();
  const std::unique_ptr<Front> front = read_front(words, files, options);
  std::vector<Value> low;
  for (size_t i = 0; i < front->low.chunks.size(); ++i)
    low.push_back(low_entry(front->low.chunks[i], *front->low.bodies[i]));
  const ParameterUse use(*options.given_params->asked());
  std::vector<Entry> used, warnings;
  for (const Declaration& one : front->high.declarations) {
    const Name id = cat(one.document->ref, ".", one.id);
    const std::vector<std::string> paths = use.in(one);
    used.push_back({id, use.used(paths)});
    if (std::vector<Value> missing = use.missing(paths, one.meta); !missing.empty())
      warnings.push_back({id, pair("params_meta_missing", Value::list(std::move(missing)))});
  }
  const Value empty = Value::dict({});
  Validation made;
  made.document = Value::dict(
      {{"high", high_value(front->high)},
       {"low", Value::list(std::move(low))},
       {"meta", meta_value(front->high)},
       {"parameters",
        Value::dict({{"GLOBAL", use.global()}, {"ID_DECS", Value::dict(std::move(used))}})},
       {"warnings",
        Value::dict({{"GLOBAL", empty}, {"ID_DECS", Value::dict(std::move(warnings))}})}});
  CompiledStates compiled = finish(*front, options);
  made.errors = std::move(compiled.errors);
  made.warnings = std::move(compiled.warnings);
  return made;
}

}  // namespace fettle::states
