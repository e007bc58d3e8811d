#include "states/high.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "core/state_tag.h"
#include "states/gather.h"
#include "states/params.h"

namespace fettle::states {
namespace {

/// The value as Python would print it, cut to a short length.
std::string printed(const TreeNode& node) {
  return clipped(jinja::text_of(template_value(node)), 200);
}

bool has_space(std::string_view text) { return text.find_first_of(" \t\r\n") != text.npos; }

/// Reads one document.
class DocumentReader {
 public:
  DocumentReader(const Document& document, const HighOptions& options, Report& report, High& high)
      : document_(document), options_(options), report_(report), high_(high) {}

  void read() {
    for (const TreeMember& entry : document_.tree.root().entries()) {
      const Name key = entry.key->text();
      if (key == "include" || key.view().starts_with("__"))
        continue;
      if (key == "extend")
        extend(*entry.value);
      else if (key == "exclude")
        exclude(*entry.value);
      else if (key == "META")
        high_.metas.emplace_back(document_.ref, entry.value);
      else
        declare(entry);
    }
  }

  void read_arguments(const TreeNode& list, const Name& id, Body& body) {
    id_ = id;
    if (list.is_dict())
      add_item(list, body);
    for (const TreeNode* item : list.items())
      add_item(*item, body);
  }

 private:
  Position position(const TreeNode& node) const { return document_.position(node); }
  void error(const TreeNode& node, std::string message) {
    report_.error(position(node), std::move(message));
  }
  /// ` in state "a" in SLS "b"`
  std::string in_state() const {
    return cat(" in state \"", id_, "\" in SLS \"", document_.ref, "\"");
  }

  void extend(const TreeNode& body) {
    if (!body.is_dict()) {
      error(body, cat("Extend Declaration in SLS ", document_.ref,
                      " is not formed as a dictionary but as a <class '", python_type(body), "'>"));
      return;
    }
    for (const TreeMember& entry : body.entries()) {
      id_ = entry.key->text();
      if (!entry.value->is_dict()) {
        error(*entry.value,
              cat("Extension ID \"", id_, "\" in SLS \"", document_.ref, "\" is not a dictionary"));
        continue;
      }
      is_extension_ = true;
      high_.extensions.push_back(declaration(entry));
      is_extension_ = false;
    }
  }

  void exclude(const TreeNode& list) {
    if (!list.is_list()) {
      error(list, cat("Exclude Declaration in SLS ", document_.ref,
                      " is not formed as a list but as a <class '", python_type(list), "'>"));
      return;
    }
    for (const TreeNode* item : list.items()) {
      const TreeNode* name = item;
      bool is_file = true;
      if (item->is_dict() && item->entries().size() == 1) {
        const Name what = item->entries()[0].key->text();
        name = what == "id" || what == "sls" ? item->entries()[0].value : item;
        is_file = what == "sls";
      }
      if (name->is_text())
        high_.exclusions.push_back({is_file, name->text(), position(*item)});
      else
        error(*item, cat("an exclude in SLS ", document_.ref,
                         " must be {id: ID}, {sls: REF} or a ref, not ", printed(*item)));
    }
  }

  void declare(const TreeMember& entry) {
    id_ = entry.key->text();
    if (entry.key->written() != Value::Type::text) {
      error(*entry.key,
            cat("ID ", id_, " in SLS ", document_.ref, " is not formed as a string, but is a ",
                written_type(entry.key->written()), ": quote it"));
      return;
    }
    if (!is_tag_part(id_)) {
      error(*entry.key, cat("ID ", id_, " in SLS ", document_.ref, " must not contain `",
                            StateTag::separator, "`, which separates the parts of a tag"));
      return;
    }
    const bool is_short = entry.value->is_text() && !has_space(entry.value->text()) &&
                          entry.value->text().view().find('.') != std::string_view::npos;
    if (is_short)
      add_short(entry);
    else if (entry.value->is_dict())
      high_.declarations.push_back(declaration(entry));
    else
      error(*entry.value, cat("ID ", id_, " in SLS ", document_.ref, " is not a dictionary"));
  }

  static std::string_view written_type(Value::Type type) {
    return type == Value::Type::integer   ? "int"
           : type == Value::Type::boolean ? "bool"
           : type == Value::Type::real    ? "float"
                                          : "NoneType";
  }

  void add_short(const TreeMember& entry) {
    const Name text = entry.value->text();
    const size_t dot = text.view().rfind('.');
    Body body;
    body.state = text.view().substr(0, dot);
    body.function = text.view().substr(dot + 1);
    body.document = &document_;
    body.at = entry.value->place();
    body.is_short = true;
    Declaration made{id_, &document_, entry.key->place(), nullptr, {}};
    made.bodies.push_back(std::move(body));
    high_.declarations.push_back(std::move(made));
  }

  Declaration declaration(const TreeMember& entry) {
    Declaration made{id_, &document_, entry.key->place(), nullptr, {}};
    made.bodies.reserve(entry.value->entries().size());
    is_overfull_ = false;
    for (const TreeMember& part : entry.value->entries()) {
      const Name key = part.key->text();
      if (key == "META")
        made.meta = part.value;
      else if (!key.view().starts_with("__"))
        add_body(part, made);
    }
    return made;
  }

  void add_body(const TreeMember& entry, Declaration& made) {
    if (!entry.value->is_list()) {
      error(*entry.value, cat("State '", entry.key->text(), "' in ID ", id_, " in SLS ",
                              document_.ref, " is not formed as a list"));
      return;
    }
    Body body;
    body.document = &document_;
    body.at = entry.key->place();
    if (!name_function(entry, body))
      return;
    body.list = entry.value;
    body.arguments.reserve(std::min(entry.value->items().size(), most_parts));
    for (const TreeNode* item : entry.value->items())
      add_item(*item, body);
    for (Body& other : made.bodies)
      if (other.state == body.state) {
        if (!options_.is_lenient)
          error(*entry.key,
                cat("ID \"", id_, "\" in SLS \"", document_.ref,
                    "\" contains multiple state declarations from the same sub: ", body.state));
        other = std::move(body);
        return;
      }
    if (made.bodies.size() < most_parts)
      made.bodies.push_back(std::move(body));
    else if (!std::exchange(is_overfull_, true))
      error(*entry.key, cat("ID ", id_, " in SLS ", document_.ref, " declares more than ",
                            most_parts, " states"));
  }

  /// A shared name: many states have few functions.
  Name once(std::string_view text) {
    const auto found = names_.find(text);
    return found != names_.end() ? found->second
                                 : names_.emplace(std::string(text), Name(text)).first->second;
  }

  /// Reads `a.b.function: […]`, or `a.b: [function, …]`.
  bool name_function(const TreeMember& entry, Body& body) {
    const Name key = entry.key->text();
    const TreeNode* named = nullptr;
    size_t count = 0;
    for (const TreeNode* item : entry.value->items())
      if (item->is_text()) {
        named = item;
        ++count;
      }
    const size_t dot = key.view().rfind('.');
    const std::string_view prefix = key.view().substr(0, dot == std::string_view::npos ? 0 : dot);
    const bool is_whole =
        dot == std::string_view::npos ||
        (count > 0 ? has_state(key) || !has_state(prefix) : has_state(key) && !has_state(prefix));
    body.is_whole = is_whole;
    body.state = is_whole ? key : once(prefix);
    if (!is_whole)
      ++count;
    if (count == 0 && is_extension_)
      return true;
    if (count == 0) {
      error(*entry.key, cat("No function declared in state \"", key, "\"", in_id()));
      return false;
    }
    if (count > 1 && !options_.is_lenient) {
      error(*entry.key, cat("Too many functions declared in state \"", body.state, "\"", in_id()));
      return false;
    }
    body.function = named != nullptr ? named->text() : once(key.view().substr(dot + 1));
    if (!has_space(body.function))
      return true;
    error(named == nullptr ? *entry.key : *named,
          cat("The function \"", body.function, "\"", in_state(),
              " has whitespace: a function has none, perhaps this is an argument that is missing "
              "a \":\""));
    return false;
  }

  std::string in_id() const { return cat(" in ID \"", id_, "\" in SLS \"", document_.ref, "\""); }
  bool has_state(std::string_view ref) const {
    return options_.has_state && options_.has_state(ref);
  }

  void add_item(const TreeNode& item, Body& body) {
    if (item.is_text())
      return;
    if (!item.is_dict()) {
      if (!options_.is_lenient)
        error(item, cat("an argument", in_state(), " is not formed as a dictionary but as a ",
                        python_type(item), ": write `- name: value`"));
      return;
    }
    for (const TreeMember& entry : item.entries())
      add_argument(entry, body);
  }

  void add_argument(const TreeMember& entry, Body& body) {
    const GlobalArgument* global = find_global(entry.key->text());
    const auto role = global == nullptr ? GlobalArgument::Role::setting : global->role;
    switch (role) {
      case GlobalArgument::Role::requisite:
      case GlobalArgument::Role::inverse:
      case GlobalArgument::Role::use:
      case GlobalArgument::Role::use_in:
        if (role == GlobalArgument::Role::requisite && global->requisite == Requisite::arg_bind)
          add_bindings(*entry.value, body);
        else
          add_wishes(*global, *entry.value, body.wishes);
        break;
      default:
        if (has_room(body, position(*entry.key), report_))
          body.arguments.push_back(
              {entry.key->text(), entry.value, &document_, entry.key->place()});
    }
  }

  bool is_list(const GlobalArgument& global, const TreeNode& node) {
    if (!node.is_list())
      error(node,
            cat("The ", global.name, " statement", in_state(), " needs to be formed as a list"));
    return node.is_list();
  }

  void not_single(const TreeNode& node) {
    error(node, cat("Requisite declaration ", printed(node), in_state(),
                    " is not formed as a single key dictionary"));
  }

  void add_wishes(const GlobalArgument& global, const TreeNode& list, std::vector<Wish>& wishes) {
    if (!is_list(global, list))
      return;
    for (const TreeNode* item : list.items()) {
      if (!item->is_dict() || item->entries().size() != 1 || !item->entries()[0].value->is_text()) {
        not_single(*item);
        continue;
      }
      const TreeMember& entry = item->entries()[0];
      wishes.push_back({&global, entry.key->text(), entry.value->text(), position(*item)});
    }
  }

  /// Visits the entries of a list of dictionaries.
  template <typename Visit>
  void each_entry(const TreeNode& list, const Visit& visit) {
    if (!list.is_list()) {
      not_single(list);
      return;
    }
    for (const TreeNode* item : list.items())
      if (item->is_dict())
        for (const TreeMember& entry : item->entries())
          visit(entry);
      else
        not_single(*item);
  }

  void add_bindings(const TreeNode& list, Body& body) {
    static const GlobalArgument& global = *find_global("arg_bind");
    if (!is_list(global, list))
      return;
    each_entry(list, [&](const TreeMember& state) {
      each_entry(*state.value, [&](const TreeMember& id) {
        each_entry(*id.value, [&](const TreeMember& path) {
          if (!path.value->is_text())
            not_single(*path.value);
          else if (has_room(body, position(*path.key), report_))
            body.bindings.push_back({state.key->text(), id.key->text(), path.key->text(),
                                     path.value->text(), position(*path.key)});
        });
      });
    });
  }

  const Document& document_;
  const HighOptions& options_;
  Report& report_;
  High& high_;
  Name id_;
  bool is_extension_ = false;
  bool is_overfull_ = false;  ///< the declaration has more states than are read
  std::map<std::string, Name, std::less<>> names_;  ///< of states and functions
};

/// Numbers states that are written as a list and say nothing about their order, as Idem does.
void number(High& high) {
  uint32_t next = first_order;
  for (Declaration& one : high.declarations)
    for (Body& body : one.bodies)
      if (!body.is_short && std::none_of(body.arguments.begin(), body.arguments.end(),
                                         [](const Argument& a) { return a.name == "order"; }))
        body.implicit_order = next++;
}

/// Reports an ID that is in two files, or in two blocks of one.
void find_conflicts(High& high, Report& report) {
  std::unordered_map<Name, size_t> places;
  places.reserve(high.declarations.size());
  bool has_conflict = false;
  for (size_t i = 0; i < high.declarations.size(); ++i) {
    const Declaration& one = high.declarations[i];
    const auto [known, is_new] = places.emplace(one.id, i);
    if (is_new)
      continue;
    const Declaration& other = high.declarations[known->second];
    report.error(one.position(),
                 cat("Duplicate state declarations found in SLS tree: ", one.id, " is in SLS ",
                     other.document->ref, " and in SLS ", one.document->ref));
    has_conflict = true;
  }
  if (has_conflict)
    std::erase_if(high.declarations, [&](const Declaration& one) {
      return &high.declarations[places.at(one.id)] != &one;
    });
}

}  // namespace

High read_high(std::span<const Document> documents, const HighOptions& options, Report& report) {
  High high;
  size_t count = 0;
  for (const Document& document : documents)
    count += document.tree.root().entries().size();
  high.declarations.reserve(count);
  for (const Document& document : documents)
    DocumentReader(document, options, report, high).read();
  find_conflicts(high, report);
  number(high);
  return high;
}

bool has_room(Body& body, Position at, Report& report) {
  if (body.arguments.size() + body.bindings.size() < most_parts)
    return true;
  if (!std::exchange(body.is_overfull, true))
    report.error(at, cat("a state has more than ", most_parts, " arguments"));
  return false;
}

void read_arguments(const TreeNode& list, const Document& document, const Name& id, Report& report,
                    Body& body) {
  High ignored;
  const HighOptions options;
  DocumentReader(document, options, report, ignored).read_arguments(list, id, body);
}

}  // namespace fettle::states
