#pragma once
/// A kind whose attributes, outputs and states are structs with tables of members.

#include "core/kind.h"
#include "kinds/members.h"

namespace fettle {

/// A struct without members.
struct Nothing {
  static const Members& members() {
    static const Members none{};
    return none;
  }
};

class TypedKind : public Kind {
 public:
  Name name() const final { return name_; }
  Sort sort() const final { return sort_; }
  Result<Attributes> normalise(const Value& given) const final {
    return settle(TRY(attributes_.normalise(given)));
  }

  const Members& attributes() const { return attributes_; }
  const Members& outputs() const { return outputs_; }
  const Members& state() const { return state_; }

 protected:
  TypedKind(std::string_view name, Sort sort, const Members& attributes, const Members& outputs,
            const Members& state)
      : name_(name), sort_(sort), attributes_(attributes), outputs_(outputs), state_(state) {}

  /// Rules that no table can express: checks across members, and one form for equal meanings.
  virtual Result<Attributes> settle(Attributes normal) const { return normal; }

 private:
  Name name_;
  Sort sort_;
  const Members &attributes_, &outputs_, &state_;
};

template <typename AttributesStruct, typename OutputsStruct = Nothing,
          typename StateStruct = Nothing>
class KindOf : public TypedKind {
 public:
  KindOf(std::string_view name, Sort sort)
      : TypedKind(name, sort, AttributesStruct::members(), OutputsStruct::members(),
                  StateStruct::members()) {}
};

}  // namespace fettle
