#include "model/program/text_form.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "model/program/instance.h"
#include "model/values/numbers.h"
#include "value/python.h"
#include "value/whole.h"

namespace fettle::model {
namespace {

/// The text of an instance, with the places of all its constructors.
std::string instance_text(const Program& program, const Instance& instance) {
  for (size_t& at = program.constructions_counted; at < program.constructions.size(); ++at) {
    const Construction& again = program.constructions[at];
    program.constructed_again[again.instance].push_back(again.node->at);
  }
  std::string places = program.location(instance.at);
  if (const auto again = program.constructed_again.find(&instance);
      again != program.constructed_again.end())
    for (size_t i = 0; i < again->second.size() && places.size() < 10'000; ++i)
      places += cat(",", program.location(again->second[i]));
  return cat(instance.entity->full_name, " (instantiated at ", places, ")");
}

/// Appends a list or dict to the text of what is around it: dicts are nested a thousand deep at
/// most.
void append_quoted(std::string& made, const Program& program, const Datum& value);

bool may_go_on(const std::string& made) {
  Budget& budget = Budget::current();
  return budget.spend(1) && budget.has_room(16 * made.size());
}

void append_list(std::string& made, const Program& program, const List& list) {
  made.push_back('[');
  bool is_first = true;
  for (const Datum& item : list.items) {
    if (!may_go_on(made))
      return;
    made.append(std::exchange(is_first, false) ? "" : ", ");
    append_quoted(made, program, item);
  }
  made.push_back(']');
}

void append_dict(std::string& made, const Program& program, const Dict& dict) {
  made.push_back('{');
  bool is_first = true;
  for (const DictEntry& entry : dict.entries) {
    if (!may_go_on(made))
      return;
    made.append(std::exchange(is_first, false) ? "" : ", ");
    made.append(python::quoted(entry.key->view));
    made.append(": ");
    append_quoted(made, program, entry.value);
  }
  made.push_back('}');
}

void append_quoted(std::string& made, const Program& program, const Datum& value) {
  if (value.tag == Tag::list)
    append_list(made, program, *value.list);
  else if (value.tag == Tag::dict)
    append_dict(made, program, *value.dict);
  else
    made.append(quoted(program, value));
}

}  // namespace

std::string quoted(const Program& program, const Datum& value) {
  switch (value.tag) {
    case Tag::unset:
      return "<unset>";
    case Tag::null:
      return "null";
    case Tag::unknown:
      return "<<unknown>>";
    case Tag::boolean:
      return value.boolean ? "True" : "False";
    case Tag::integer:
      return std::to_string(value.integer);
    case Tag::large:
      return std::string(value.view());
    case Tag::floating:
      return python::real_text(value.floating);
    case Tag::text:
      return Budget::current().has_room(4 * value.view().size()) ? python::quoted(value.view())
                                                                 : std::string();
    case Tag::list:
    case Tag::dict: {
      std::string made;
      append_quoted(made, program, value);
      return made;
    }
    case Tag::reference:
      return cat("<inmanta_plugins.", value.reference->is_of_python ? "" : "std.",
                 value.reference->kind, " object>");
    case Tag::instance:
      return instance_text(program, *value.instance);
  }
  return "";
}

std::string text_of(const Program& program, const Datum& value) {
  return value.tag == Tag::null ? "None" : shown(program, value);
}

std::string_view raw_type(const Datum& value) {
  switch (value.tag) {
    case Tag::unset:
    case Tag::null:
      return "NoneValue";
    case Tag::unknown:
      return "Unknown";
    case Tag::boolean:
      return "bool";
    case Tag::integer:
    case Tag::large:
      return "int";
    case Tag::floating:
      return "float";
    case Tag::text:
      return "str";
    case Tag::list:
      return "list";
    case Tag::dict:
      return "dict";
    case Tag::reference:
      return value.reference->kind;
    case Tag::instance:
      return "Instance";
  }
  return "";
}

std::string shown(const Program& program, const Datum& value) {
  return value.tag == Tag::text ? std::string(value.view()) : quoted(program, value);
}

std::string interpolated(const Program& program, const Datum& value) {
  if (value.tag == Tag::null)
    return "null";
  if (value.tag == Tag::floating && value.floating == std::floor(value.floating) &&
      std::isfinite(value.floating))
    return whole::of_real(value.floating);
  return text_of(program, value);
}

bool is_too_long(const Datum& value) {
  if (!Budget::current().spend(1))
    return false;
  if (value.tag == Tag::list)
    return std::ranges::any_of(value.list->items, is_too_long);
  if (value.tag == Tag::dict)
    return std::ranges::any_of(value.dict->entries,
                               [](const DictEntry& entry) { return is_too_long(entry.value); });
  return value.tag == Tag::large &&
         value.view().size() - value.view().starts_with('-') > whole::most_digits;
}

std::string_view python_type(const Datum& value) {
  switch (value.tag) {
    case Tag::boolean:
      return "bool";
    case Tag::integer:
    case Tag::large:
      return "int";
    case Tag::floating:
      return "float";
    case Tag::text:
      return "str";
    case Tag::list:
      return "list";
    case Tag::dict:
      return "dict";
    case Tag::reference:
      return value.reference->kind;
    case Tag::null:
      return "NoneType";
    default:
      return "Entity";
  }
}

std::string no_reference_text(std::string_view type) {
  if (type == "object")
    return "References are not allowed for values of type `object`. While the `object` Python type "
           "is technically compatible with any value, references are considered special DSL values "
           "and are therefore guarded so that they don't accidentally show up where they are not "
           "expected. To work with references, explicitly declare support with a `object | "
           "Reference` annotation.";
  return cat("References are not allowed for values of type `", type,
             "`. To work with references, explicitly declare support with a `... | "
             "Reference[...]` annotation.");
}

std::string no_space_text(const Name& name) {
  return cat("Namespace ", name.name.space, " not found.\nTry importing it with `import ",
             name.name.space, "`");
}

void append_key(std::string& key, const Datum& value) {
  Budget& budget = Budget::current();
  if (!budget.spend(1) || !budget.has_room(2 * key.size()))
    return;
  switch (value.tag) {
    case Tag::boolean:
      key.append(value.boolean ? "1" : "0");
      break;
    case Tag::integer: {
      char buffer[24];
      const auto end = std::to_chars(buffer, buffer + sizeof buffer, value.integer);
      key.append(buffer, end.ptr);
      break;
    }
    case Tag::floating:
      key.append(value.floating == std::floor(value.floating) && std::isfinite(value.floating)
                     ? whole::of_real(value.floating)
                     : python::real_text(value.floating));
      break;
    case Tag::large:
      key.append(value.view());
      break;
    case Tag::text:
      key.push_back('"');
      key.append(std::to_string(value.view().size()));
      key.push_back('"');
      key.append(value.view());
      break;
    case Tag::list:
      key.push_back('[');
      for (const Datum& item : value.list->items)
        append_key(key, item);
      break;
    case Tag::dict:
      key.push_back('{');
      for (const DictEntry& entry : value.dict->entries) {
        append_key(key, Datum::of(entry.key));
        append_key(key, entry.value);
      }
      break;
    case Tag::instance:
      key.push_back('@');
      key.append(std::to_string(value.instance->number));
      break;
    default:
      key.push_back('n');
      break;
  }
  key.push_back(';');
}

bool fold_constant(Program& program, const Expr* expr, Datum& value, const Expr*& wrong) {
  if (expr->kind == ExprKind::constant) {
    value = as<Constant>(expr).value;
    return true;
  }
  if (expr->kind == ExprKind::list) {
    std::vector<Datum> items;
    for (const Expr* item : as<ListExpr>(expr).items) {
      Datum folded;
      if (!fold_constant(program, item, folded, wrong))
        return false;
      if (folded.tag == Tag::list)
        items.insert(items.end(), folded.list->items.begin(), folded.list->items.end());
      else
        items.push_back(folded);
    }
    value = Datum::of(static_cast<const List*>(
        program.arena.make<List>(program.arena.copy(std::span<const Datum>(items)))));
    return true;
  }
  wrong = expr;
  if (expr->kind != ExprKind::dict)
    return false;
  std::vector<DictEntry> entries;
  for (const DictItem& item : as<DictExpr>(expr).items) {
    Datum folded;
    if (!fold_constant(program, item.value, folded, wrong))
      return false;
    entries.push_back({item.key, folded});
  }
  value = Datum::of(static_cast<const Dict*>(
      program.arena.make<Dict>(program.arena.copy(std::span<const DictEntry>(entries)))));
  return true;
}

bool is_equal(const Datum& a, const Datum& b) {
  if (!Budget::current().spend(1))
    return false;
  if (a.is_number() && b.is_number())
    return order_of(a, b) == 0;
  if (a.tag != b.tag)
    return false;
  switch (a.tag) {
    case Tag::text:
      return a.view() == b.view();
    case Tag::reference:
      return a.reference->kind == b.reference->kind &&
             std::ranges::equal(a.reference->arguments, b.reference->arguments, is_equal);
    case Tag::instance:
      return a.instance == b.instance;
    case Tag::list:
      return a.list == b.list || std::equal(a.list->items.begin(), a.list->items.end(),
                                            b.list->items.begin(), b.list->items.end(), is_equal);
    case Tag::dict:
      if (a.dict == b.dict)  // as in Python without a look inside
        return true;
      if (a.dict->entries.size() != b.dict->entries.size())
        return false;
      for (const DictEntry& entry : a.dict->entries) {
        const Datum* other = b.dict->find(entry.key->view);
        if (other == nullptr || !is_equal(entry.value, *other))
          return false;
      }
      return true;
    default:
      return true;
  }
}

}  // namespace fettle::model
