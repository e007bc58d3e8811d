#pragma once
/// Keeps values that are alike as what they differ in.
///
/// A cluster has fifty thousand pods, and each says of itself some two hundred things. Those of one
/// workload differ in twenty of them: a name, a UID, an address, some times. To share equal parts is
/// not enough: a dict around one that differs is another dict, and so are all around it. So what is
/// kept of a value is the first one that was like it, and the parts at the places where any of its
/// like differs.
///
///   kept first    {"metadata": {"name": "a", "labels": {…}}, "spec": {…}}
///   kept          {"metadata": {"name": "b", "labels": {…}}, "spec": {…}}  as  "b"
///   the places    /metadata/name
///
/// Alike are values of one group with the same keys everywhere, and lists of the same lengths. A
/// value that differs at a new place widens the places of those that come after it.
///
/// Invariants: `value` of what is kept is equal to what was given, whatever came before. What is kept
/// holds what it needs, also when this is gone.
///
/// Used by one at a time; what is kept may be read by many.

#include <initializer_list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "value/value.h"

namespace fettle {

class AlikeValues {
  struct Form;

 public:
  class Kept {
   public:
    Kept() = default;
    explicit operator bool() const { return form_ != nullptr; }  ///< whether there is a value
    Value value() const;
    /// The value at some keys of dicts, from the outermost on, without making the rest. Null: there
    /// is none.
    Value at(std::initializer_list<std::string_view> keys) const;

   private:
    friend class AlikeValues;
    std::shared_ptr<const Form> form_;
    std::unique_ptr<Value[]> parts_;
  };

  /// Of values of different groups, nothing is shared.
  Kept keep(const Value& value, Digest group = {});

  /// Of how many kinds of values something is known.
  size_t forms() const { return forms_.size(); }

 private:
  struct Hash {
    size_t operator()(const Digest& digest) const { return digest.low; }
  };
  void forget_unused();

  std::unordered_map<Digest, std::shared_ptr<const Form>, Hash> forms_;
  size_t most_ = 64;  ///< forms, before it is looked which of them are in use
};

}  // namespace fettle
