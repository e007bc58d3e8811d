#include <charconv>
#include <iterator>

#include "base/text.h"
#include "model/machine.h"
#include "model/text_form.h"

namespace fettle::model {

Step Machine::evaluate_call(const Call& node, Frame* frame, Datum& value) {
  std::vector<std::pair<const Argument*, Datum>> given;
  Step result = Step::done;
  for (const Argument& argument : node.arguments) {
    Datum datum;
    const Step step = evaluate(argument.value, frame, datum);
    if (step == Step::fail)
      return step;
    if (step == Step::wait)
      result = step;
    given.emplace_back(&argument, datum);
  }
  if (result != Step::done)
    return result;
  const std::string& name = program_.symbols.name(node.function.name);
  if (node.plugin == nullptr) {
    if (given.size() != 1 || !given[0].first->is_positional)
      return fail(node.at, cat(name, " takes exactly one positional argument"));
    return cast(node, name, given[0].second, value);
  }
  const Plugin& plugin = *node.plugin;
  const std::vector<std::string_view> parameters = split(plugin.parameters, ' ');
  std::vector<Datum> arguments(plugin.most);
  size_t position = 0;
  const auto put = [&](std::string_view parameter, const Datum& datum) -> Step {
    for (size_t i = 0; i < parameters.size() && i < arguments.size(); ++i)
      if (parameters[i] == parameter) {
        if (arguments[i].is_set())
          return fail(node.at, cat(name, "() got multiple values for argument '", parameter, "'"));
        arguments[i] = datum;
        return Step::done;
      }
    return fail(node.at, cat(name, "() got an unexpected keyword argument: '", parameter, "'"));
  };
  for (const auto& [argument, datum] : given) {
    Step step = Step::done;
    if (argument->is_positional) {
      if (position >= arguments.size())
        return fail(node.at, cat(name, "() takes ", plugin.most,
                                 " positional arguments but more were given"));
      arguments[position++] = datum;
    } else if (!argument->is_unpacked) {
      step = put(program_.symbols.name(argument->name), datum);
    } else if (datum.tag == Tag::dict) {
      for (const DictEntry& entry : datum.dict->entries)
        if (step == Step::done)
          step = put(entry.key->view, entry.value);
    } else {
      return fail(node.at, "The ** operator can only be applied to dictionaries");
    }
    if (step != Step::done)
      return step;
  }
  for (size_t i = 0; i < plugin.least; ++i)
    if (!arguments[i].is_set())
      return fail(node.at,
                  cat(name, "() missing 1 required positional argument: '", parameters[i], "'"));
  for (const Datum& argument : arguments)
    if (argument.tag == Tag::unknown && !plugin.allows_unknown) {
      value = Datum::unknown();
      return Step::done;
    }
  const int missing = current_->missing;
  std::string error;
  if (plugin.run(*this, arguments, value, error))
    return Step::done;
  if (current_->missing > missing)
    return Step::wait;
  if (failure_)
    return Step::fail;
  return fail(node.at, cat("Exception in plugin std::", name, ": ", error), 60);
}

Step Machine::cast(const Call& node, std::string_view to, const Datum& from, Datum& value) {
  const auto refuse = [&] {
    return fail(node.at, cat("Failed to cast ", quoted(program_, from), " to ", to));
  };
  value = from;
  if (from.tag == Tag::unknown)
    return Step::done;
  if (to == "string") {
    if (from.tag == Tag::boolean)
      value = make_text(from.boolean ? "true" : "false");
    else if (from.tag == Tag::null)
      value = make_text("null");
    else
      value = make_text(text_of(program_, from));
    return Step::done;
  }
  if (to == "bool") {
    switch (from.tag) {
      case Tag::null:
        value = Datum::of(false);
        break;
      case Tag::integer:
        value = Datum::of(from.integer != 0);
        break;
      case Tag::floating:
        value = Datum::of(from.floating != 0);
        break;
      case Tag::text:
        value = Datum::of(!from.view().empty());
        break;
      case Tag::list:
        value = Datum::of(!from.list->items.empty());
        break;
      default:
        break;
    }
    return Step::done;
  }
  if (from.tag == Tag::text) {
    const std::string text(trim(from.view()));
    int64_t whole = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), whole);
    const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && *end == '\0';
    if (to == "int" ? !is_whole : !is_number)
      return refuse();
    value = is_whole && to != "float" ? Datum::of(whole) : Datum::of(number);
    return Step::done;
  }
  if (!from.is_number())
    return refuse();
  if (to == "float")
    value = Datum::of(as_float(from));
  else if (to == "int")
    value =
        from.tag == Tag::floating
            ? Datum::of(static_cast<int64_t>(std::fabs(from.floating) < 9e18 ? from.floating : 0))
            : Datum::of(as_integer(from));
  return Step::done;
}

}  // namespace fettle::model
