#include "states/arrange.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "states/reference.h"
#include "states/sources.h"
#include "states/target_index.h"

namespace fettle::states {
namespace {

/// More than any project has, and few enough for the memory: with a pattern `*`, each state may
/// name all others.
constexpr size_t most_relations = 4'000'000;

class Arranger {
 public:
  Arranger(High& high, bool is_partial, Report& report)
      : high_(high), is_partial_(is_partial), report_(report) {}

  void run() {
    for (Declaration& extension : high_.extensions)
      extend(extension);
    exclude();
    for (Declaration& one : high_.declarations)
      name(one);
    if (std::any_of(high_.declarations.begin(), high_.declarations.end(),
                    [](const Declaration& one) {
                      return std::any_of(one.bodies.begin(), one.bodies.end(), relates);
                    })) {
      number_bodies();
      for (size_t i = 0; i < bodies_.size(); ++i)
        invert(i);
      use_others();
    }
  }

 private:
  struct NumberedBody {
    Declaration* declaration;
    Body* body;
  };

  static bool relates(const Body& body) {
    return std::any_of(body.wishes.begin(), body.wishes.end(), [](const Wish& wish) {
      return wish.requisite->role != GlobalArgument::Role::requisite;
    });
  }

  Declaration* find(const Name& id) {
    if (by_id_.empty())
      for (size_t i = 0; i < high_.declarations.size(); ++i)
        by_id_.emplace(high_.declarations[i].id, i);
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &high_.declarations[found->second];
  }

  std::string hint_for(const Name& id) const {
    std::vector<std::string_view> ids;
    if (report_.takes_hints())
      for (const Declaration& one : high_.declarations)
        ids.push_back(one.id);
    return suggestion(id, ids);
  }

  void extend(Declaration& extension) {
    Declaration* const extended = find(extension.id);
    if (extended == nullptr) {
      if (!is_partial_)
        report_.error(extension.position(),
                      cat("Cannot extend ID ", extension.id, " in SLS ", extension.document->ref,
                          ". It is not part of the high state", hint_for(extension.id)));
      return;
    }
    if (extension.meta != nullptr)
      extended->meta = extension.meta;
    for (Body& body : extension.bodies) {
      const auto same = std::find_if(extended->bodies.begin(), extended->bodies.end(),
                                     [&](const Body& one) { return one.state == body.state; });
      if (same != extended->bodies.end())
        add_to(*same, body);
      else if (!body.function.empty() && extended->bodies.size() < most_parts)
        extended->bodies.push_back(std::move(body));
      else if (!body.function.empty())
        report_.error(body.position(),
                      cat("ID ", extension.id, " declares more than ", most_parts, " states"));
      else
        report_.error(body.position(),
                      cat("No function declared in state \"", body.state, "\" in ID \"",
                          extension.id, "\" in SLS \"", extension.document->ref, "\""));
    }
  }

  /// Arguments replace those of the same name; requisites are added.
  void add_to(Body& body, Body& more) {
    if (!more.function.empty())
      body.function = more.function;
    for (Argument& argument : more.arguments) {
      const auto same =
          std::find_if(body.arguments.begin(), body.arguments.end(),
                       [&](const Argument& one) { return one.name == argument.name; });
      if (same != body.arguments.end())
        *same = argument;
      else if (has_room(body, argument.position(), report_))
        body.arguments.push_back(argument);
    }
    for (HandBinding& binding : more.bindings)
      if (has_room(body, binding.at, report_))
        body.bindings.push_back(binding);
    body.wishes.insert(body.wishes.end(), more.wishes.begin(), more.wishes.end());
  }

  void exclude() {
    if (high_.exclusions.empty())
      return;
    std::unordered_set<Name> ids, files;
    for (const Exclusion& one : high_.exclusions)
      (one.is_file ? files : ids).insert(one.name);
    const Document* last = nullptr;
    bool is_file_out = false;
    std::erase_if(high_.declarations, [&](const Declaration& one) {
      if (one.document != last) {
        last = one.document;
        is_file_out = std::any_of(files.begin(), files.end(),
                                  [&](const Name& file) { return is_ref_of(file, last->ref); });
      }
      return is_file_out || ids.contains(one.id);
    });
    by_id_.clear();
  }

  static const Argument* find_argument(const Body& body, std::string_view name) {
    const Argument* found = nullptr;
    for (const Argument& argument : body.arguments)
      if (argument.name == name)
        found = &argument;
    return found;
  }

  /// Makes one body for each entry of `names`. A body without a name takes the ID.
  void name(Declaration& declaration) {
    const bool has_names =
        std::any_of(declaration.bodies.begin(), declaration.bodies.end(),
                    [](const Body& body) { return find_argument(body, "names") != nullptr; });
    for (Body& body : declaration.bodies) {
      const Argument* name = find_argument(body, "name");
      body.name = name != nullptr && name->value->is_text() ? name->value->text() : declaration.id;
    }
    if (!has_names)
      return;
    std::vector<Body> bodies;
    for (Body& body : declaration.bodies)
      if (const Argument* names = find_argument(body, "names"))
        add_names(declaration, body, *names, bodies);
      else
        bodies.push_back(std::move(body));
    declaration.bodies = std::move(bodies);
  }

  void add_names(const Declaration& declaration, const Body& body, const Argument& names,
                 std::vector<Body>& bodies) {
    if (!names.value->is_list()) {
      report_.error(names.value_position(),
                    cat("The names statement in state \"", declaration.id, "\" in SLS \"",
                        declaration.document->ref, "\" needs to be formed as a list"));
      return;
    }
    if (names.value->items().empty())
      bodies.push_back(body);
    int order = 0;
    std::unordered_set<Name> known;
    for (const TreeNode* item : names.value->items()) {
      const bool has_more = item->is_dict() && item->entries().size() == 1;
      if (!has_more && !item->is_text()) {
        report_.error(names.document->position(*item),
                      cat("an entry of names in state \"", declaration.id, "\" in SLS \"",
                          declaration.document->ref, "\" must be a name or {name: [arguments]}"));
        continue;
      }
      Body made = body;
      made.name = has_more ? item->entries()[0].key->text() : item->text();
      made.name_order = ++order;
      if (!known.insert(made.name).second)
        report_.error(names.document->position(*item),
                      cat("the name ", made.name, " occurs twice in state \"", declaration.id,
                          "\" in SLS \"", declaration.document->ref, "\""));
      if (has_more) {
        Body more;
        read_arguments(*item->entries()[0].value, *names.document, declaration.id, report_, more);
        add_to(made, more);
      }
      bodies.push_back(std::move(made));
    }
  }

  void number_bodies() {
    for (Declaration& one : high_.declarations)
      for (Body& body : one.bodies) {
        index_.add(static_cast<uint32_t>(bodies_.size()), body.state, one.id, body.name,
                   one.document->ref);
        bodies_.push_back({&one, &body});
      }
  }

  /// The bodies that a wish names. A pattern leaves out `self`.
  std::vector<uint32_t> targets_of(const Wish& wish, size_t self) {
    std::vector<uint32_t> found;
    index_.find(index_.state_of(wish.state), wish.target, found);
    if (found.empty() && !is_partial_)
      report_.error(
          wish.at,
          cat("Requisite '", wish.requisite->name, " ", wish.state, ":", wish.target,
              "' not found in current run. Verify the syntax",
              report_.takes_hints() ? index_.suggestion_for(wish.state, wish.target) : ""));
    if (wish.state == "sls" || is_pattern(halves_of_id(wish.target).first))
      std::erase(found, static_cast<uint32_t>(self));
    relations_ += found.size();
    if (relations_ > most_relations) {
      if (relations_ - found.size() <= most_relations)
        report_.error(wish.at, cat("the requisites `", wish.requisite->name,
                                   "` and others name more than ", most_relations, " states"));
      found.clear();
    }
    return found;
  }

  static bool is_inverse(const GlobalArgument& requisite) {
    return requisite.role == GlobalArgument::Role::inverse ||
           requisite.role == GlobalArgument::Role::use_in;
  }

  static const GlobalArgument& forward_of(const GlobalArgument& inverse) {
    return *find_global(inverse.name.substr(0, inverse.name.rfind("_in")));
  }

  /// Turns `a: require_in: b` into `b: require: a`.
  void invert(size_t i) {
    const NumberedBody& here = bodies_[i];
    const std::vector<Wish> wishes = here.body->wishes;
    for (const Wish& wish : wishes)
      if (is_inverse(*wish.requisite))
        for (const uint32_t target : targets_of(wish, i))
          bodies_[target].body->wishes.push_back(
              {&forward_of(*wish.requisite), here.body->state, here.declaration->id, wish.at});
  }

  /// States that are used come before those that use them.
  void use_others() {
    enum class Mark : uint8_t { none, open, done };
    std::vector<Mark> marks(bodies_.size(), Mark::none);
    std::vector<std::vector<uint32_t>> used(bodies_.size());
    for (size_t i = 0; i < bodies_.size(); ++i)
      for (const Wish& wish : bodies_[i].body->wishes)
        if (wish.requisite->role == GlobalArgument::Role::use)
          for (const uint32_t target : targets_of(wish, i))
            used[i].push_back(target);
    std::vector<std::pair<size_t, size_t>> open;
    for (size_t start = 0; start < bodies_.size(); ++start) {
      if (marks[start] == Mark::none)
        open.emplace_back(start, 0);
      while (!open.empty()) {
        auto& [i, next] = open.back();
        marks[i] = Mark::open;
        if (next < used[i].size()) {
          const uint32_t target = used[i][next++];
          if (marks[target] == Mark::open)
            report_.error(bodies_[i].body->position(),
                          cat("A recursive requisite was found: ID ", bodies_[i].declaration->id,
                              " and ID ", bodies_[target].declaration->id, " use each other"));
          else if (marks[target] == Mark::none)
            open.emplace_back(target, 0);
          continue;
        }
        for (const uint32_t target : used[i])
          copy_arguments(*bodies_[target].body, *bodies_[i].body);
        marks[i] = Mark::done;
        open.pop_back();
      }
    }
  }

  void copy_arguments(const Body& from, Body& to) {
    for (const Argument& argument : from.arguments) {
      const GlobalArgument* global = find_global(argument.name);
      if (global != nullptr && global->role == GlobalArgument::Role::place)
        continue;
      if (std::none_of(to.arguments.begin(), to.arguments.end(),
                       [&](const Argument& one) { return one.name == argument.name; }) &&
          has_room(to, argument.position(), report_))
        to.arguments.push_back(argument);
    }
  }

  High& high_;
  bool is_partial_;
  Report& report_;
  std::unordered_map<Name, size_t> by_id_;
  std::vector<NumberedBody> bodies_;
  TargetIndex index_;
  size_t relations_ = 0;
};

}  // namespace

void arrange(High& high, bool is_partial, Report& report) {
  Arranger(high, is_partial, report).run();
}

}  // namespace fettle::states
