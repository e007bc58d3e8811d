#pragma once
/// Future references: texts that stand for what is known only at run time,
/// `{{kurtosis:<32 hex digits>:<field>.runtime_value}}`. Packages pass them around as text; the
/// engine wants holes. The id is derived from the key, so it is the same in every run.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/key.h"
#include "value/value.h"

namespace fettle {

/// Whether a part of a text has the form of a reference, whoever gave out its id.
bool has_reference(std::string_view text);

class References {
 public:
  /// The text of a reference to an output of a resource.
  std::string to(const Key& key, std::string_view field);
  /// The same value with holes in place of references. Ids that nobody gave out stay.
  Value with_holes(const Value& value) const;
  Value text_with_holes(std::string_view text) const;
  /// The same text with the names of services in place of references to their host names, which are
  /// the same.
  std::string with_host_names(std::string_view text) const;
  /// The text for people: host names are the names of services, and any other reference reads
  /// `<web.ip_address>`.
  std::string shown(std::string_view text) const;
  /// A reference that became no hole and so stays a text: where it stands in a value, `headers.a`
  /// (for one in a key of a dict, the dict), and that text for people. Empty: there is none.
  struct Placeholder {
    std::string where{}, shown{};
  };
  std::optional<Placeholder> placeholder_in(const Value& value) const;
  /// The resources that a text refers to.
  std::vector<Key> keys_in(std::string_view text) const;

 private:
  /// Replaces each reference by what `told` returns. Empty: it stays.
  template <typename Messages>
  std::string replaced(std::string_view text, Messages told) const;

  std::map<std::string, Key, std::less<>> ids_;
};

}  // namespace fettle
