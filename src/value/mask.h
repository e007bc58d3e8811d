#pragma once
/// Hides secrets: values that somebody marked (`Value::secret`) or that stand at a name which says
/// so. Everything that is told to people (events, plans, reasons, errors, results, commands) goes
/// through a `Mask` first; records keep what acting needs.
///
///   Mask mask;
///   mask.add_named(*read_json(R"({"db_password": "hunter2"})"));
///   mask.text("login with hunter2 failed")   // login with ******** failed
///
/// A value of fewer than four characters is hidden where it stands at its name or mark and not
/// looked for in other text, which would lose every `1` and every `no`.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

/// Whether a name has one of the words password, token, secret, key, credential (or their plural),
/// which end at everything but letters and at capitals: `dbPassword`, `API_TOKEN`, `ssh-key`, but
/// not `monkey`.
bool is_secret_name(std::string_view name);

/// `value` with everything hidden that stands at such a name in one of its dicts.
Value mask_named(const Value& value);
/// Whether a dict at this name holds what users name: `env`, `env_vars`, `environment`, `headers`,
/// `fields`. A list there holds `{"name", "value"}`.
bool holds_variables(std::string_view name);
/// `value` with that hidden of what users name in it.
Value mask_variables(const Value& value);
/// Does the same in text: `"db_password": "x"` as JSON and Starlark write it, and `db_password: x`
/// on a line of its own.
std::string mask_named_text(std::string_view text);
/// A command as it may be told: without the values of JSON and YAML that has such names, and of
/// `NAME=VALUE`.
std::string mask_command(const std::vector<std::string>& words);

/// The secrets of one piece of work.
class Mask {
 public:
  void add(std::string_view secret);
  /// Values at names that say so, with all that is in them.
  void add_named(const Value& value);
  /// Values of variables in lists, where their names say so.
  void add_variables(const Value& value);
  /// Values that are marked.
  void add_marked(const Value& value);
  /// The added texts, which are looked for in text.
  const std::vector<std::string>& secrets() const { return secrets_; }

  bool has_secret(std::string_view text) const;
  std::string text(std::string_view text) const;
  /// Texts and numbers in it, and what is marked. Keys of dicts stay.
  Value value(const Value& value) const;
  Error error(Error error) const;

 private:
  void add_leaves(const Value& value);

  std::vector<std::string> secrets_;
  std::vector<std::string> forms_;  ///< how they may be written, the longest first
};

/// The value without its marks, for code that needs it.
Value reveal(const Value& value);

}  // namespace fettle
