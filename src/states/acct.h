#pragma once
/// Credentials: providers have profiles, and these have keys and values that nobody may see.
///
///   cloud:
///     default: {user: me, key: s3cret}
///
/// A file of them is YAML, or encrypted as Idem's `acct` does it: Fernet around MessagePack.

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "value/value.h"

namespace fettle::states {

class Credentials {
 public:
  Credentials() = default;  ///< none

  /// Reads a file. `file` names the source in errors; an empty key reads plain YAML. Errors
  /// (`Blame::user`) never show the contents.
  static Result<Credentials> read(std::string_view bytes, std::string_view file,
                                  std::string_view key);
  /// Reads data: `profiles` of a batch.
  static Result<Credentials> of(const Value& providers);

  /// Adds other credentials. The later of two values for one key counts (`--overrides`).
  void add(const Credentials& others);
  void add(std::string_view provider, std::string_view profile, const Value& values);
  /// Adds a profile that a state made: {provider, name, source, values} (`modules/module.h`).
  /// Error: the profile on which it is based is not there.
  Status add_made(const Value& made);

  /// The profile of this name among those of the providers; an empty dict: there is none. An empty
  /// name means the default. Error: several of the providers have one.
  Result<Value> profile(std::span<const Name> providers, std::string_view name) const;
  /// All profiles of these providers, and of those whose names go on with a full stop: {PROVIDER:
  /// {NAME: {…}}}. That is what plugins make others of.
  Value profiles(std::span<const Name> providers) const;
  /// All of them, as `of` reads them.
  Value all() const;
  bool is_empty() const { return providers_.empty(); }
  bool has(std::string_view provider, std::string_view name) const;
  /// Error (`Blame::user`): no provider has a profile of this name. `default` always exists.
  Status check_profile(std::string_view name) const;

  /// `default`, unless the file or `--acct-profile` names another.
  std::string default_profile = "default";

 private:
  std::map<std::string, std::map<std::string, Value>, std::less<>> providers_;
};

/// The value, with every scalar in it marked as a secret.
Value sealed(const Value& value);

}  // namespace fettle::states
