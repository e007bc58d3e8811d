#pragma once
/// The name of an object as tables keep it: its texts are those of the object's own metadata. An
/// `ObjectName` in each of some tables would be a third of what is kept of a pod.

#include <tuple>

#include "kubernetes/resource_type.h"
#include "value/name_at.h"

namespace fettle::kubernetes {

struct KeptName {
  Name space;  ///< empty: of no namespace
  Name name;
};

inline KeptName kept_name_of(const Value& object) {
  const Value& about = object.at("metadata");
  return {name_at(about, "namespace"), name_at(about, "name")};
}

inline ObjectName object_name(const KeptName& kept) { return {kept.space.str(), kept.name.str()}; }

/// In the order of `ObjectName`, with which it can be looked for.
struct KeptNameLess {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return texts_of(a) < texts_of(b);
  }

 private:
  template <typename Any>
  static std::tuple<std::string_view, std::string_view> texts_of(const Any& any) {
    return {std::string_view(any.space), std::string_view(any.name)};
  }
};

}  // namespace fettle::kubernetes
