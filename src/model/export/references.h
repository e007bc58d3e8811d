#pragma once
/// References in the fields of one exported resource. A field with a reference holds null;
/// `references` says how the value is found once the resource is deployed, and `mutators` where it
/// belongs. Form, ids and order are the original's.

#include <functional>
#include <map>

#include "base/result.h"
#include "model/model.h"
#include "value/value.h"

namespace fettle::model {

/// The id of the resource that an instance becomes.
using IdOf = std::function<Result<std::string>(const Instance&)>;

bool has_reference(const Datum& datum);

class References {
 public:
  References(const Model& model, IdOf id_of) : model_(model), id_of_(std::move(id_of)) {}

  /// A value for the field at a path. Error (`Blame::user`): a reference is made from something
  /// without JSON, or holds an instance that is no resource.
  Result<Value> take(const Datum& datum, const std::string& path);
  bool empty() const { return places_.empty(); }
  /// Ids of references, and the paths at which they were found.
  const std::vector<std::pair<std::string, std::string>>& places() const { return places_; }
  void clear();

  /// A reference that the model's Python knows by a number, as the original writes it: `id`, and
  /// `references` with those that it is made of.
  static Result<Value> of_number(const Model& model, const IdOf& id_of, const Value& number);

  Value references() const;
  Value mutators(std::string_view resource) const;

 private:
  Result<std::string> add(const Reference& reference);
  Result<std::string> add_of_python(const Reference& reference);

  const Model& model_;
  IdOf id_of_;
  std::map<std::string, Value> found_;  ///< by id
  std::vector<std::pair<std::string, std::string>> places_;
};

}  // namespace fettle::model
