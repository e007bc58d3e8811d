/// Filters over lists and dicts.

#include "base/text.h"
#include "template/jinja/filters.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

/// The value for comparisons: a text without its case, unless that counts.
Value key_of(const Value& value, bool has_case) {
  return value.is_text() && !has_case ? Value(python::lower(value.text())) : value;
}

Result<Value> length(Renderer&, Arguments& arguments) {
  return Value(TRY(length_of(arguments.positional[0])));
}
Result<Value> list(Renderer&, Arguments& arguments) {
  return Value::list(TRY(items_of(arguments.positional[0])));
}

Result<Value> first(Renderer&, Arguments& arguments) {
  if (const Value& given = arguments.positional[0]; given.is_list() && !given.list().items.empty())
    return given.list().items.front();  // nobody looks at the others
  Items items = TRY(items_of(arguments.positional[0]));
  return items.empty() ? Value::undefined("No first item, sequence was empty.")
                       : std::move(items.front());
}
Result<Value> last(Renderer&, Arguments& arguments) {
  Items items = TRY(items_of(arguments.positional[0]));
  return items.empty() ? Value::undefined("No last item, sequence was empty.")
                       : std::move(items.back());
}

Result<Value> join_items(Renderer& renderer, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_join", arguments, {"value", "d?", "attribute?"}));
  const std::string between = given[1].is_undefined() ? "" : text_of(given[1]);
  std::string made;
  bool is_first = true;
  for (const Value& item : TRY(items_of(given[0]))) {
    const Value value =
        given[2].is_undefined() ? item : TRY(attribute_at(renderer, item, given[2]));
    if (Status status = add(made, std::exchange(is_first, false) ? "" : between); !status)
      return status.error();
    if (Status status = add(made, TRY(renderer.shown(value))); !status)
      return status.error();
  }
  return Value(std::move(made));
}

Result<Value> reverse(Renderer&, Arguments& arguments) {
  const Value& value = arguments.positional[0];
  Items items = TRY(items_of(value));
  std::reverse(items.begin(), items.end());
  if (!value.is_text())
    return Value::list(std::move(items));
  std::string made;
  for (const Value& item : items)
    made += item.text();
  return Value(std::move(made));
}

Result<Value> sort(Renderer& renderer, Arguments& arguments) {
  const Items given = TRY(
      bind_arguments("do_sort", arguments, {"value", "reverse?", "case_sensitive?", "attribute?"}));
  std::vector<KeyedItem> rows;
  std::vector<std::string> paths;
  if (given[3].is_text())
    for (const std::string_view path : split(given[3].text(), ','))
      paths.emplace_back(path);
  for (const Value& item : TRY(items_of(given[0]))) {
    KeyedItem& row = rows.emplace_back(KeyedItem{{}, item});
    if (given[3].is_whole())
      row.keys.push_back(key_of(TRY(attribute_at(renderer, item, given[3])), is_true(given[2])));
    else if (paths.empty())
      row.keys.push_back(key_of(item, is_true(given[2])));
    for (const std::string& path : paths)
      row.keys.push_back(key_of(TRY(attribute_at(renderer, item, Value(path))), is_true(given[2])));
  }
  return Value::list(TRY(sorted(std::move(rows), is_true(given[1]))));
}

Result<Value> dictsort(Renderer&, Arguments& arguments) {
  const Items given = TRY(
      bind_arguments("do_dictsort", arguments, {"value", "case_sensitive?", "by?", "reverse?"}));
  if (!given[0].is_dict())
    return given[0].is_undefined()
               ? undefined_error(given[0])
               : raise("AttributeError",
                       cat("'", type_name(given[0]), "' object has no attribute 'items'"));
  const std::string by = given[2].is_text() ? given[2].text() : "key";
  if (by != "key" && by != "value")
    return raise("jinja2.exceptions.FilterArgumentError",
                 "You can only sort by either \"key\" or \"value\"");
  std::vector<KeyedItem> rows;
  for (const auto& [key, value] : given[0].dict_data().entries)
    rows.push_back(
        {{key_of(by == "key" ? key : value, is_true(given[1]))}, Value::tuple({key, value})});
  return Value::list(TRY(sorted(std::move(rows), is_true(given[3]))));
}

Result<Value> unique(Renderer& renderer, Arguments& arguments) {
  const Items given =
      TRY(bind_arguments("do_unique", arguments, {"value", "case_sensitive?", "attribute?"}));
  Value seen = Value::dict();
  Items kept;
  for (const Value& item : TRY(items_of(given[0]))) {
    const Value key =
        key_of(given[2].is_undefined() ? item : TRY(attribute_at(renderer, item, given[2])),
               is_true(given[1]));
    TRY(check_hashable(key));
    if (seen.dict_data().find(key) != nullptr)
      continue;
    seen.dict_data().set(key, Value(true));
    kept.push_back(item);
  }
  return Value::list(std::move(kept));
}

Result<Value> extreme(Renderer& renderer, Arguments& arguments, bool is_max) {
  const Items given = TRY(bind_arguments(is_max ? "do_max" : "do_min", arguments,
                                         {"value", "case_sensitive?", "attribute?"}));
  const Items items = TRY(items_of(given[0]));
  if (items.empty())
    return Value::undefined("No aggregated item, sequence was empty.");
  Value best = items[0];
  Value best_key;
  for (size_t i = 0; i < items.size(); ++i) {
    const Value key =
        key_of(given[2].is_undefined() ? items[i] : TRY(attribute_at(renderer, items[i], given[2])),
               is_true(given[1]));
    if (i > 0 && !TRY(is_max ? is_less(best_key, key, ">") : is_less(key, best_key)))
      continue;
    best = items[i];
    best_key = key;
  }
  return best;
}
Result<Value> max(Renderer& renderer, Arguments& arguments) {
  return extreme(renderer, arguments, true);
}
Result<Value> min(Renderer& renderer, Arguments& arguments) {
  return extreme(renderer, arguments, false);
}

Result<Value> sum(Renderer& renderer, Arguments& arguments) {
  const Items given =
      TRY(bind_arguments("do_sum", arguments, {"iterable", "attribute?", "start?"}));
  Value total = given[2].is_undefined() ? Value(0) : given[2];
  for (const Value& item : TRY(items_of(given[0])))
    total = TRY(operate("+", total,
                        given[1].is_undefined() || given[1].is_none()
                            ? item
                            : TRY(attribute_at(renderer, item, given[1]))));
  return total;
}

Result<Value> batch(Renderer&, Arguments& arguments) {
  const Items given =
      TRY(bind_arguments("do_batch", arguments, {"value", "linecount", "fill_with?"}));
  const int64_t count = given[1].is_whole() ? given[1].integer() : 0;
  if (count < 1 || count > 1'000'000)
    return raise("ValueError", "batch() needs a count of at least 1");
  Items rows;
  Items row;
  for (const Value& item : TRY(items_of(given[0]))) {
    if (static_cast<int64_t>(row.size()) == count)
      rows.push_back(Value::list(std::exchange(row, {})));
    row.push_back(item);
  }
  if (!row.empty()) {
    if (!given[2].is_undefined() && !given[2].is_none())
      row.resize(static_cast<size_t>(count), given[2]);
    rows.push_back(Value::list(std::move(row)));
  }
  return Value::list(std::move(rows));
}

Result<Value> slice(Renderer&, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_slice", arguments, {"value", "slices", "fill_with?"}));
  const Items items = TRY(items_of(given[0]));
  const int64_t slices = given[1].is_whole() ? given[1].integer() : 0;
  if (slices == 0)
    return raise("ZeroDivisionError", "integer division or modulo by zero");
  if (slices > 1'000'000)
    return raise("ValueError", "too many slices");
  const int64_t size = static_cast<int64_t>(items.size());
  Items rows;
  int64_t at = 0;
  for (int64_t i = 0; i < slices; ++i) {
    const int64_t count = size / slices + (i < size % slices);
    Items row(items.begin() + at, items.begin() + at + count);
    at += count;
    if (!given[2].is_undefined() && !given[2].is_none() && i >= size % slices && size % slices > 0)
      row.push_back(given[2]);
    else if (!given[2].is_undefined() && !given[2].is_none() && size % slices == 0)
      row.push_back(given[2]);
    rows.push_back(Value::list(std::move(row)));
  }
  return Value::list(std::move(rows));
}

Result<Value> items(Renderer&, Arguments& arguments) {
  const Value& value = arguments.positional[0];
  if (value.is_undefined())
    return Value::list({});
  if (!value.is_dict())
    return raise("TypeError", "Can only get item pairs from a mapping.");
  Items pairs;
  for (const auto& [key, item] : value.dict_data().entries)
    pairs.push_back(Value::tuple({key, item}));
  return Value::list(std::move(pairs));
}

Result<Value> groupby(Renderer& renderer, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_groupby", arguments,
                                         {"value", "attribute", "default?", "case_sensitive?"}));
  std::vector<KeyedItem> rows;
  for (const Value& item : TRY(items_of(given[0]))) {
    Value key = TRY(attribute_at(renderer, item, given[1]));
    if (key.is_undefined() && !given[2].is_undefined())
      key = given[2];
    rows.push_back({{key_of(key, is_true(given[3]))}, Value::tuple({key, item})});
  }
  Items groups;
  for (const Value& pair : TRY(sorted(std::move(rows), false))) {
    const Value& key = pair.list().items[0];
    if (groups.empty() || !is_equal(key_of(groups.back().list().items[0], is_true(given[3])),
                                    key_of(key, is_true(given[3]))))
      groups.push_back(Value::tuple({key, Value::list({})}));
    List& members = groups.back().list().items[1].list();
    members.items.push_back(pair.list().items[1]);
    members.count();
  }
  for (const Value& group : groups)
    group.list().is_group = true;
  return Value::list(std::move(groups));
}

/// A false value has no items, even if it could have some.
Result<Items> items_if_true(const Value& value) {
  if (!value.is_undefined() && !is_true(value))
    return Items();
  return items_of(value);
}

Result<Value> map(Renderer& renderer, Arguments& arguments) {
  const Items items = TRY(items_if_true(arguments.positional[0]));
  const std::optional<Value> attribute = arguments.take("attribute");
  const std::optional<Value> otherwise = attribute ? arguments.take("default") : std::nullopt;
  Items made;
  if (attribute) {
    if (!arguments.named.empty())
      return raise("jinja2.exceptions.FilterArgumentError",
                   cat("Unexpected keyword argument '", arguments.named[0].first, "'"));
    for (const Value& item : items) {
      Value value = TRY(attribute_at(renderer, item, *attribute));
      made.push_back(value.is_undefined() && otherwise ? *otherwise : std::move(value));
    }
    return Value::list(std::move(made));
  }
  if (arguments.positional.size() < 2)
    return raise("jinja2.exceptions.FilterArgumentError", "map requires a filter argument");
  const std::string name = text_of(arguments.positional[1]);
  for (const Value& item : items) {
    Arguments given{{item}, arguments.named};
    given.positional.insert(given.positional.end(), arguments.positional.begin() + 2,
                            arguments.positional.end());
    made.push_back(TRY(renderer.filter(name, given)));
  }
  return Value::list(std::move(made));
}

/// `select`, `reject` and their forms by attribute.
Result<Value> chosen(Renderer& renderer, Arguments& arguments, bool keeps, bool has_attribute) {
  const Items items = TRY(items_if_true(arguments.positional[0]));
  const size_t first = has_attribute ? 2 : 1;
  if (arguments.positional.size() < first)
    return raise("jinja2.exceptions.FilterArgumentError", "Missing parameter for attribute name");
  Items made;
  for (const Value& item : items) {
    const Value subject =
        has_attribute ? TRY(attribute_at(renderer, item, arguments.positional[1])) : item;
    bool is_good = false;
    if (arguments.positional.size() > first) {
      Arguments given{{subject}, arguments.named};
      given.positional.insert(given.positional.end(),
                              arguments.positional.begin() + static_cast<ptrdiff_t>(first) + 1,
                              arguments.positional.end());
      is_good = TRY(renderer.test(text_of(arguments.positional[first]), given));
    } else {
      if (subject.is_strictly_undefined())
        return undefined_error(subject);
      is_good = is_true(subject);
    }
    if (is_good == keeps)
      made.push_back(item);
  }
  return Value::list(std::move(made));
}
Result<Value> select(Renderer& renderer, Arguments& arguments) {
  return chosen(renderer, arguments, true, false);
}
Result<Value> reject(Renderer& renderer, Arguments& arguments) {
  return chosen(renderer, arguments, false, false);
}
Result<Value> selectattr(Renderer& renderer, Arguments& arguments) {
  return chosen(renderer, arguments, true, true);
}
Result<Value> rejectattr(Renderer& renderer, Arguments& arguments) {
  return chosen(renderer, arguments, false, true);
}

Result<Value> attr(Renderer& renderer, Arguments& arguments) {
  const Items given = TRY(bind_arguments("do_attr", arguments, {"obj", "name"}));
  if (given[0].is_dict())
    return Value::undefined(cat("'dict object' has no attribute ", quoted(given[1])));
  return renderer.attribute(given[0], text_of(given[1]));
}

constexpr std::array list_rows{
    FilterRow{"length", length},
    FilterRow{"count", length},
    FilterRow{"list", list},
    FilterRow{"first", first},
    FilterRow{"last", last},
    FilterRow{"join", join_items},
    FilterRow{"reverse", reverse},
    FilterRow{"sort", sort},
    FilterRow{"dictsort", dictsort},
    FilterRow{"unique", unique},
    FilterRow{"max", max},
    FilterRow{"min", min},
    FilterRow{"sum", sum},
    FilterRow{"batch", batch},
    FilterRow{"slice", slice},
    FilterRow{"items", items},
    FilterRow{"groupby", groupby},
    FilterRow{"map", map},
    FilterRow{"select", select},
    FilterRow{"reject", reject},
    FilterRow{"selectattr", selectattr},
    FilterRow{"rejectattr", rejectattr},
    FilterRow{"attr", attr},
};

}  // namespace

Result<Items> sorted(std::vector<KeyedItem> rows, bool is_reversed) {
  std::optional<Error> error;
  const auto less = [&](const KeyedItem& a, const KeyedItem& b) {
    for (size_t i = 0; i < a.keys.size(); ++i) {
      const bool is_known = !a.keys[i].is_undefined() && !b.keys[i].is_undefined();
      if (is_known && is_equal(a.keys[i], b.keys[i]))
        continue;
      const Result<bool> answer = is_less(a.keys[i], b.keys[i]);
      if (!answer && !error)
        error = answer.error();
      return answer && *answer;
    }
    return false;
  };
  Budget& budget = Budget::current();
  std::stable_sort(rows.begin(), rows.end(), [&](const KeyedItem& a, const KeyedItem& b) {
    return !error && budget.spend(cost::value) && (is_reversed ? less(b, a) : less(a, b));
  });
  if (error)
    return *error;
  Items items;
  for (KeyedItem& row : rows)
    items.push_back(std::move(row.item));
  return items;
}

std::span<const FilterRow> list_filters() { return list_rows; }

}  // namespace fettle::jinja
