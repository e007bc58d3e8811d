/// Checks the fields of a manifest against their table (`workloads/fields.h`).

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "workloads/amount.h"
#include "workloads/fields.h"
#include "workloads/read/checker.h"

namespace fettle::workloads {
namespace {

using Type = Field::Type;

std::string_view name_of(Type type) {
  constexpr std::array<std::string_view, 13> names{
      "a string",          "an integer", "true or false", "a list", "a list",
      "a list of strings", "a dict",     "a dict",        "a dict", "a number or a percentage",
      "a number",          "left out",   "anything"};
  return names[static_cast<size_t>(type)];
}

/// Whether a text would be a number without its quotes.
bool is_short_number(const TreeNode& node) {
  constexpr size_t longest = 18;
  if (!node.is_text() || node.text().empty() || node.text().view().size() > longest)
    return false;
  return node.text().view().find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_of(const TreeNode& node, Type type) {
  switch (type) {
    case Type::text:
      return node.is_text();
    case Type::integer:
      return node.is_scalar() && node.scalar().is_integer();
    case Type::boolean:
      return node.is_scalar() && node.scalar().is_bool();
    case Type::list:
    case Type::items:
    case Type::texts:
      return node.is_list();
    case Type::dict:
    case Type::map:
    case Type::selector:
      return node.is_dict();
    case Type::count: {
      const auto count = node.is_scalar() ? amount_of(node.scalar()) : std::nullopt;
      return count && !count->is_percent;
    }
    case Type::amount:
      // Kubernetes: a string is a percentage, since `IntOrString` has no digits in quotes.
      return node.is_scalar() && amount_of(node.scalar()).has_value() && !is_short_number(node);
    case Type::none:
    case Type::any:
      return true;
  }
  return false;
}

class Walk {
 public:
  Walk(std::string_view kind, bool is_alpha, Checker& checker)
      : kind_(kind), letter_(letter_of(kind)), is_alpha_(is_alpha), checker_(checker) {}

  /// Recurses as deep as the table, and no deeper. `path`: in the table; `shown`: with numbers of
  /// items.
  void check(const TreeNode& dict, const std::string& path, const std::string& shown) {
    for (const TreeMember& entry : dict.entries()) {
      const std::string name = entry.key->text().str();
      const auto below = [&](const std::string& at) {
        return at.empty() ? name : cat(at, ".", name);
      };
      const Field* field = find(below(path));
      if (field == nullptr) {
        refuse_unknown(*entry.key, path, cat(below(shown)));
        continue;
      }
      if (entry.value->is_null())
        continue;
      if (!check_value(*entry.value, below(shown), *field))
        continue;
      if (field->type == Type::dict && has_fields(below(path)))
        check(*entry.value, below(path), below(shown));
      if (field->type == Type::selector)
        check_beside_labels(*entry.value, below(path), below(shown));
      if (field->type == Type::items)
        check_list(*entry.value, cat(below(path), "[]"), below(shown));
    }
  }

 private:
  /// Checks the fields that a selector has beside labels.
  void check_beside_labels(const TreeNode& selector, const std::string& path,
                           const std::string& shown) {
    for (const TreeMember& entry : selector.entries())
      if (const Field* field = find(cat(path, ".", entry.key->text()));
          field != nullptr && !entry.value->is_null())
        check_value(*entry.value, cat(shown, ".", entry.key->text()), *field);
  }

  void check_list(const TreeNode& list, const std::string& path, const std::string& shown) {
    size_t number = 0;
    for (const TreeNode* item : list.items()) {
      const std::string at = cat(shown, "[", number++, "]");
      if (item->is_dict())
        check(*item, path, at);
      else
        checker_.refuse(*item, cat("`", at, "` must be a dict, not ", found_text(*item)));
    }
  }

  bool is_ours(const Field& field) const {
    const std::string_view kinds = field.kinds;
    const char alpha = static_cast<char>(letter_ - 'A' + 'a');
    return kinds.find(letter_) != kinds.npos || (is_alpha_ && kinds.find(alpha) != kinds.npos);
  }
  const Field* find(std::string_view path) const {
    const auto found = std::ranges::find_if(
        all_fields(), [&](const Field& field) { return path == field.path && is_ours(field); });
    return found == all_fields().end() ? nullptr : &*found;
  }
  bool has_fields(std::string_view path) const {
    return std::ranges::any_of(all_fields(), [&](const Field& field) {
      const std::string_view other = field.path;
      return is_ours(field) && other.size() > path.size() && other.starts_with(path) &&
             other[path.size()] == '.';
    });
  }
  /// The fields that may stand in the dict at a path of the table.
  std::vector<std::string> known_below(std::string_view path) const {
    std::vector<std::string> known;
    for (const Field& field : all_fields()) {
      const std::string_view other = field.path;
      const size_t dot = other.rfind('.');
      if (is_ours(field) && (dot == other.npos ? "" : other.substr(0, dot)) == path)
        known.emplace_back(dot == other.npos ? other : other.substr(dot + 1));
    }
    return known;
  }
  void refuse_unknown(const TreeNode& key, const std::string& path, const std::string& shown) {
    checker_.refuse(key, cat("unknown field `", printable(shown), "` of a ", kind_,
                             suggestion(key.text(), known_below(path))));
  }
  /// Whether it has the type of the field.
  bool check_value(const TreeNode& node, const std::string& path, const Field& field) {
    if (field.type == Type::none) {
      checker_.refuse(node, cat("`", path, "` is not supported"));
      return false;
    }
    if (!is_of(node, field.type)) {
      const bool is_quoted =
          (field.type == Type::integer || field.type == Type::amount) && is_short_number(node);
      const std::string found = is_quoted ? "a string: take the quotes away" : found_text(node);
      checker_.refuse(node, cat("`", path, "` must be ", name_of(field.type), ", not ", found));
      return false;
    }
    if (field.type == Type::map)
      check_texts(node, path);
    if (field.type == Type::selector)
      check_selector(node, path, known_below(field.path), kind_, checker_);
    if (field.type == Type::texts)
      check_items(node, path);
    if (field.type == Type::integer) {
      const auto number = node.scalar().integer();
      if (!number || *number < field.least || *number > field.most)
        checker_.refuse(node, cat("`", path, "` must be from ", field.least, " to ", field.most,
                                  ", not ", node.scalar().integer_digits()));
    }
    const auto words = split(field.words, '|');
    if (*field.words != '\0' && std::ranges::find(words, node.text().view()) == words.end())
      checker_.refuse(node, cat("`", path, "` must be one of ", replace_all(field.words, "|", ", "),
                                ", not ", found_text(node), suggestion(node.text(), words)));
    return true;
  }

  void check_items(const TreeNode& list, const std::string& path) {
    size_t number = 0;
    for (const TreeNode* item : list.items()) {
      const std::string at = cat(path, "[", number++, "]");
      if (!item->is_text())
        checker_.refuse(*item, cat("`", at, "` must be a string, not ", found_text(*item),
                                   item->is_scalar() ? ": put quotes around it" : ""));
    }
  }

  void check_texts(const TreeNode& dict, const std::string& path) {
    for (const TreeMember& entry : dict.entries())
      if (!entry.value->is_text())
        checker_.refuse(*entry.value,
                        cat("`", path, ".", printable(entry.key->text()),
                            "` must be a string, not ", found_text(*entry.value),
                            entry.value->is_scalar() ? ": put quotes around it" : ""));
  }

  std::string_view kind_;
  char letter_;
  bool is_alpha_;
  Checker& checker_;
};

}  // namespace

namespace {

Where where_of(const TreeNode& node, std::string_view file) {
  return {std::string(file), static_cast<int>(node.place().line),
          static_cast<int>(node.place().column)};
}

}  // namespace

bool Checker::is_wrong(const TreeNode& node) const {
  const Where where = where_of(node, file_);
  return std::ranges::any_of(std::span(errors_).first(*structure_ends_), [&](const Error& error) {
    return error.where.line == where.line && error.where.column == where.column;
  });
}

bool Checker::has_error_in(const TreeNode& node) const {
  if (structure_ends_ && is_wrong(node))
    return true;
  if (node.is_list())
    return std::ranges::any_of(node.items(),
                               [this](const TreeNode* item) { return has_error_in(*item); });
  return node.is_dict() && std::ranges::any_of(node.entries(), [this](const TreeMember& entry) {
           return has_error_in(*entry.key) || has_error_in(*entry.value);
         });
}

bool Checker::follows(const TreeNode& at) const {
  return is_wrong(at) ||
         (at.is_dict() && std::ranges::any_of(at.entries(), [this](const TreeMember& entry) {
            return is_wrong(*entry.key) || is_wrong(*entry.value);
          }));
}

void Checker::refuse(const TreeNode& at, std::string message) {
  if (structure_ends_ && follows(at))
    return;
  Error error = user_error(std::move(message), where_of(at, file_));
  error.excerpt = excerpt(text_, error.where.line, error.where.column);
  errors_.push_back(std::move(error));
}

FieldPlace Checker::place_of(const TreeNode& root, std::string_view path) const {
  const Where where = where_of(nearest(root, path), file_);
  return {std::string(path), where, excerpt(text_, where.line, where.column)};
}

const TreeNode* Checker::find(const TreeNode& from, std::string_view path) {
  const TreeNode* node = &from;
  for (const std::string_view part : split(path, '.')) {
    node = node->is_dict() ? node->find(part) : nullptr;
    if (node == nullptr)
      return nullptr;
  }
  return node;
}

const TreeNode& Checker::nearest(const TreeNode& from, std::string_view path) {
  const TreeNode* node = &from;
  for (const std::string_view part : split(path, '.')) {
    const TreeNode* next = node->is_dict() ? node->find(part) : nullptr;
    if (next == nullptr)
      return *node;
    node = next;
  }
  return *node;
}

void Checker::refuse_at(const TreeNode& root, std::string_view path, std::string message) {
  refuse(nearest(root, path), std::move(message));
}

std::string found_text(const TreeNode& node) {
  return node.is_list()   ? std::string("a list")
         : node.is_dict() ? std::string("a dict")
                          : cat("`", clipped(printable(to_text(node.scalar())), 60), "`");
}

std::vector<FieldRow> field_rows() {
  std::vector<FieldRow> rows;
  for (const Field& field : all_fields()) {
    FieldRow row;
    row.path = field.path;
    row.is_supported = field.type != Type::none;
    for (const std::string_view kind : {"CloneSet", "StatefulSet", "DaemonSet", "SidecarSet",
                                        "ImagePullJob", "ImageListPullJob"}) {
      const char letter = letter_of(kind), alpha = static_cast<char>(letter - 'A' + 'a');
      const std::string_view kinds = field.kinds;
      row.is_alpha_only |= kinds.find(alpha) != kinds.npos;
      if (kinds.find(letter) != kinds.npos || kinds.find(alpha) != kinds.npos)
        row.kinds.push_back(kind);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void check_fields(const TreeNode& root, std::string_view kind, bool is_alpha, Checker& checker) {
  Walk(kind, is_alpha, checker).check(root, "", "");
}

}  // namespace fettle::workloads
