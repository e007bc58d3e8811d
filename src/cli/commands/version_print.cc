#include "cli/commands/version_print.h"

#include "base/text.h"
#include "cli/line_diff.h"
#include "cli/print.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t shown_sets = 20, shown_items = 20;

std::string change_of(const ItemDifference& one, const std::string& field, bool colour) {
  const Value* const before = field_of(one.before, field);
  const Value* const after = field_of(one.after, field);
  if (before != nullptr && after != nullptr)
    return changed_text(*before, *after, "      ", colour);
  const auto side = [](const Value* value) {
    return value == nullptr ? std::string(" not set") : value_text(*value, "      ");
  };
  return cat(side(before), " ->", side(after));
}

/// Fields that every resource has and nobody asks for.
bool is_inner(std::string_view field) {
  return field == "requires" || field == "purged" || field == "send_event" ||
         field == "receive_events" || field == "purge_on_delete" || field == "version" ||
         field == "report_only";
}

bool is_nothing(const Value& value) {
  return value.is_null() || (value.is_list() && value.items().empty());
}

std::string called(const Name& set) {
  return set.empty() ? "shared" : cat("set `", printable(set), "`");
}

void append_items(std::string& text, const std::vector<Name>& ids, char mark, Colour tint,
                  bool colour) {
  for (size_t i = 0; i < ids.size() && i < shown_items; ++i)
    text += cat("\n  ", in(tint, cat(mark, " ", printable(ids[i])), colour));
  if (ids.size() > shown_items)
    text += cat("\n  ", mark, " and ", ids.size() - shown_items, " more");
}

}  // namespace

std::string whole_text(const WholeVersion& whole) {
  std::string text = cat("version ", whole.head.number);
  const Name* set = nullptr;
  for (const WholeItem& one : whole.items) {
    if (set == nullptr || *set != one.set)
      text += cat("\n", called(one.set));
    set = &one.set;
    text += cat("\n  ", printable(one.item.id));
    if (one.state != WholeItem::State::available)
      text += cat(" (", to_string(one.state), ")");
    if (one.item.attributes.is_dict())
      for (const Entry& entry : one.item.attributes.entries())
        if (!is_inner(entry.key) && !is_nothing(entry.value))
          text += cat("\n    ", entry.key, ":", value_text(entry.value, "      "));
    for (const Name& need : one.item.needs)
      text += cat("\n    requires ", printable(need));
  }
  return text;
}

std::string differences_text(const std::vector<ItemDifference>& found, bool colour) {
  using Type = ItemDifference::Type;
  if (found.empty())
    return "no differences";
  std::string text;
  for (const ItemDifference& one : found) {
    text += text.empty() ? "" : "\n";
    const std::string id = printable(one.id);
    if (one.type == Type::added)
      text += in(Colour::green, cat("+ ", id, " (", called(one.set), ")"), colour);
    else if (one.type == Type::removed)
      text += in(Colour::red, cat("- ", id, " (", called(one.set_before), ")"), colour);
    else if (one.type == Type::moved)
      text += in(Colour::yellow,
                 cat("> ", id, " (", called(one.set_before), " to ", called(one.set), ")"), colour);
    else
      text += in(Colour::yellow, cat("~ ", id, " (", called(one.set), ")"), colour);
    for (const std::string& field : one.fields)
      text += cat("\n    ", field, ":", change_of(one, field, colour));
  }
  return text;
}

std::string pushed_text(const PushResult& pushed, bool is_dry, bool colour) {
  std::string text = cat(is_dry ? "would become version " : "version ", pushed.number);
  if (pushed.changes.empty())
    text += ": nothing changed";
  for (size_t i = 0; i < pushed.changes.size() && i < shown_sets; ++i) {
    const SetChange& change = pushed.changes[i];
    text += cat("\n", called(change.set), ": ", change.added.size(), " added, ",
                change.changed.size(), " changed, ", change.removed.size(), " removed");
    if (pushed.changes.size() > 3)
      continue;
    append_items(text, change.added, '+', Colour::green, colour);
    append_items(text, change.changed, '~', Colour::yellow, colour);
    append_items(text, change.removed, '-', Colour::red, colour);
  }
  if (pushed.changes.size() > shown_sets) {
    size_t added = 0, changed = 0, removed = 0;
    for (const SetChange& change : pushed.changes) {
      added += change.added.size();
      changed += change.changed.size();
      removed += change.removed.size();
    }
    text += cat("\nand ", pushed.changes.size() - shown_sets, " more sets; in total ", added,
                " added, ", changed, " changed, ", removed, " removed");
  }
  return text;
}

}  // namespace fettle
