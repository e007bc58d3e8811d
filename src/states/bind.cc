/// Turns references in arguments into holes for what other states will leave.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "states/compilation.h"
#include "states/reference.h"
#include "states/types.h"
#include "value/hidden.h"
#include "value/leaves.h"

namespace fettle::states {
namespace {

/// Finds the places of texts in an argument. A text that occurs twice is found at its first place.
class TextPlaces {
 public:
  explicit TextPlaces(const Argument* argument) : argument_(argument) {}

  /// The place of the argument, if there is no such text.
  Position find(const Name& text) {
    if (places_.empty())
      read();
    const auto found = places_.find(text);
    return found == places_.end() ? argument_->value_position()
                                  : argument_->document->position(*found->second);
  }

 private:
  void read() {
    std::vector<const TreeNode*> open{argument_->value};
    std::unordered_set<const TreeNode*> seen;
    while (!open.empty()) {
      const TreeNode* node = open.back();
      open.pop_back();
      if (!seen.insert(node).second)
        continue;
      if (node->is_text())
        places_.emplace(node->text(), node);
      for (auto item = node->items().rbegin(); item != node->items().rend(); ++item)
        open.push_back(*item);
      for (auto entry = node->entries().rbegin(); entry != node->entries().rend(); ++entry)
        open.push_back(entry->value);
    }
  }

  const Argument* argument_;
  std::unordered_map<Name, const TreeNode*> places_;
};

class Binder {
 public:
  explicit Binder(Compilation& with) : with_(with) {}

  void run() {
    std::vector<Chunk>& chunks = with_.made.chunks;
    for (uint32_t i = 0; i < chunks.size(); ++i) {
      const Body& body = *with_.bodies[i];
      self_ = i;
      chunk_ = &chunks[i];
      if (body.document->refers || !body.bindings.empty() || has_foreign(body))
        bind(body);
      if (chunk_->settings != nullptr && !chunk_->settings->sensitive.empty())
        hide(body);
      if (with_.options.outcomes != nullptr)
        hide_what_templates_took(with_.options.outcomes->secrets());
      if (chunk_->settings != nullptr && with_.modules[i] != nullptr)
        check_ignored(body);
    }
  }

 private:
  /// Whether an argument comes from another file, by `extend` or `use`.
  static bool has_foreign(const Body& body) {
    return std::any_of(body.arguments.begin(), body.arguments.end(), [&](const Argument& one) {
      return one.document != body.document && one.document->refers;
    });
  }

  void bind(const Body& body) {
    references_.clear();
    for (auto& [name, value] : chunk_->arguments) {
      value = bound(value, find_argument(body, name));
    }
    const Value name = bound(Value(chunk_->name), find_argument(body, "name"));
    if (name.is_deferred())
      chunk_->bound_name = name;
    if (chunk_->settings != nullptr)
      bind_settings(body);
    for (const HandBinding& binding : body.bindings)
      bind_by_hand(binding);
  }

  static const Argument* find_argument(const Body& body, std::string_view name) {
    const Argument* found = nullptr;
    for (const Argument& argument : body.arguments)
      if (argument.name == name)
        found = &argument;
    return found;
  }

  /// The commands around a call may refer, too.
  void bind_settings(const Body& body) {
    auto settings = std::make_shared<Settings>(*chunk_->settings);
    for (auto [name, commands] :
         {std::pair("unless", &settings->unless), std::pair("onlyif", &settings->onlyif),
          std::pair("check_cmd", &settings->check_cmd)}) {
      const Argument* argument = find_argument(body, name);
      for (Value& command : *commands)
        command = bound(command, argument);
    }
    chunk_->settings = std::move(settings);
  }

  Value bound(const Value& value, const Argument* argument) {
    TextPlaces places(argument);
    return with_leaves(value, [&](const Value& leaf) -> std::optional<Value> {
      if (!leaf.is_text() || !may_refer(leaf.text()))
        return std::nullopt;
      const Name text = leaf.text();
      if (const auto cut = short_reference(text);
          cut && with_.catalogue.find(Name(cut->first)) != nullptr)
        with_.report.error(argument == nullptr ? chunk_->at : places.find(text),
                           cat("argument reference `", cut->second,
                               "` is not properly formatted: it is `${state:ID:path}`"));
      std::vector<Part> parts;
      bool refers = false;
      for (const Piece& piece : pieces_of(text)) {
        std::optional<Output> hole;
        if (piece.reference)
          hole = hole_of(*piece.reference, argument == nullptr ? chunk_->at : places.find(text));
        refers |= hole.has_value();
        if (hole)
          parts.emplace_back(std::move(*hole));
        else
          parts.emplace_back(Name(piece.text));
      }
      return refers ? std::optional(Value::deferred(std::move(parts), TextForm::python))
                    : std::nullopt;
    });
  }

  static Name target_of(const Reference& reference) {
    return reference.resource.empty() ? reference.id
                                      : Name(cat(reference.id, "[", reference.resource, "]"));
  }

  /// None: the reference names something that is not there, which is reported.
  std::optional<Output> hole_of(const Reference& reference, Position at) {
    static const GlobalArgument& requisite = *find_global("arg_bind");
    if (const auto steps = steps_of(reference.path, reference.state); !steps) {
      with_.report.error(at, steps.error().message);
      return std::nullopt;
    }
    const Name target = target_of(reference);
    const auto [known, is_new] =
        references_.emplace(std::pair(reference.state, target), chunk_->needs.size());
    if (is_new) {
      chunk_->needs.push_back(
          need_of(with_, *chunk_, self_, requisite, reference.state, target, at));
      check_single(chunk_->needs.back());
    }
    const Need& need = chunk_->needs[known->second];
    if (need.is_remembered)
      return Output{bound_kind, need.memory, reference.path};
    if (need.count == 0)
      return std::nullopt;
    return Output{bound_kind, key_of(with_.made.chunks[with_.made.targets[need.begin]]),
                  reference.path};
  }

  void check_single(const Need& need) {
    if (need.count < 2 && !(need.is_remembered && need.memory.empty()))
      return;
    with_.report.error(need.at,
                       cat("the reference to ", need.state, ":", need.target,
                           " matches several states: narrow it as in `", need.target, "[name]`"));
  }

  void bind_by_hand(const HandBinding& binding) {
    const auto [id, resource] = halves_of_id(binding.id);
    const std::optional<Output> hole =
        hole_of({binding.state, id, resource, binding.source}, binding.at);
    const Result<std::vector<Step>> steps = steps_of(binding.target, chunk_->state);
    if (!steps) {
      with_.report.error(binding.at, steps.error().message);
      return;
    }
    if (!hole)
      return;
    const Name& name = std::get<Name>(steps->front());
    auto argument = std::find_if(chunk_->arguments.begin(), chunk_->arguments.end(),
                                 [&](const auto& one) { return one.first == name; });
    if (argument == chunk_->arguments.end())
      argument = chunk_->arguments.emplace(chunk_->arguments.end(), name, Value());
    const std::optional<Value> placed =
        put(argument->second, std::span(*steps).subspan(1), Value::deferred({Part(*hole)}));
    if (placed)
      argument->second = *placed;
    else
      with_.report.error(binding.at, cat("there is no position `", binding.target,
                                         "` among the arguments of ID ", chunk_->id));
  }

  /// The value with another one at a path. Missing dictionaries are made. None: the path leads into
  /// something else.
  static std::optional<Value> put(const Value& value, std::span<const Step> steps,
                                  const Value& placed) {
    std::vector<Value> around;
    Value here = value;
    for (const Step& step : steps) {
      around.push_back(here);
      if (const Name* key = std::get_if<Name>(&step)) {
        if (!here.is_dict() && !here.is_null())
          return std::nullopt;
        here = Value(here.at(*key));
      } else {
        const size_t* index = std::get_if<size_t>(&step);
        if (index == nullptr || !here.is_list() || *index >= here.items().size())
          return std::nullopt;
        here = Value(here.items()[*index]);
      }
    }
    Value made = placed;
    for (size_t i = steps.size(); i-- > 0;) {
      if (const Name* key = std::get_if<Name>(&steps[i])) {
        std::vector<Entry> entries;
        if (around[i].is_dict())
          entries.assign(around[i].entries().begin(), around[i].entries().end());
        entries.push_back({*key, made});
        made = Value::dict(std::move(entries));
      } else {
        std::vector<Value> items(around[i].items().begin(), around[i].items().end());
        items[std::get<size_t>(steps[i])] = made;
        made = Value::list(std::move(items));
      }
    }
    return made;
  }

  /// The texts of a block hold the values with which it was rendered.
  void hide_what_templates_took(const Mask& secrets) {
    if (secrets.secrets().empty())
      return;
    for (auto& [name, value] : chunk_->arguments)
      value = with_leaves(value, [&](const Value& leaf) -> std::optional<Value> {
        const bool is_one = !leaf.is_secret() && secrets.value(leaf) != leaf;
        return is_one ? std::optional(Value::secret(leaf)) : std::nullopt;
      });
  }

  void hide(const Body& body) {
    for (const Name& name : chunk_->settings->sensitive) {
      const auto argument = std::find_if(chunk_->arguments.begin(), chunk_->arguments.end(),
                                         [&](const auto& one) { return one.first == name; });
      bool is_inside = false;
      for (auto& [other, value] : chunk_->arguments)
        if (Value marked = hidden_at(value, {name}); marked != value) {
          value = std::move(marked);
          is_inside = true;
        }
      if (argument != chunk_->arguments.end())
        argument->second = hidden(argument->second);
      else if (!is_inside)
        if (const std::string meant = meant_by(name); !meant.empty())
          with_.report.warn(
              find_argument(body, "sensitive")->value_position(),
              cat("ID ", chunk_->id, " has no argument `", name, "` to mark as sensitive", meant));
    }
  }

  /// The parameter that a misspelt name is close to. The outputs of a state may have any name.
  std::string meant_by(const Name& name) const {
    const Module* module = with_.modules[self_];
    const Function* function = module == nullptr ? nullptr : module->find(chunk_->function);
    if (function == nullptr || is_parameter(name))
      return {};
    if (const MappedState* mapped = find_mapped(chunk_->state, chunk_->function))
      for (const std::string_view result : split(mapped->results, ' '))
        if (name == result)
          return {};
    std::vector<std::string> names;
    for (const Parameter& parameter : function->parameters)
      names.push_back(parameter.name.str());
    return suggestion(name.view(), names);
  }

  void check_ignored(const Body& body) {
    for (const Name& path : chunk_->settings->ignore_changes)
      if (const Name first = path.view().substr(0, path.view().find_first_of(":["));
          !is_parameter(first))
        with_.report.warn(find_argument(body, "ignore_changes")->value_position(),
                          cat("`ignore_changes`: ", chunk_->state, ".", chunk_->function,
                              " has no parameter `", first, "`"));
  }

  bool is_parameter(const Name& name) const {
    const Function* function = with_.modules[self_]->find(chunk_->function);
    return function != nullptr && (function->takes_rest || function->find(name) != nullptr);
  }

  Compilation& with_;
  Chunk* chunk_ = nullptr;
  uint32_t self_ = 0;
  std::unordered_map<std::pair<Name, Name>, size_t, NamesHash> references_;  ///< to their needs
};

}  // namespace

void bind_references(Compilation& compilation) { Binder(compilation).run(); }

}  // namespace fettle::states
