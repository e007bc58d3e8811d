#pragma once
/// Resources that Python code of modules makes from instances: classes with `@resource`, their
/// serializers, references, and dependency managers.
///
/// A resource is made there as a whole, exactly as by the original: a serializer may look anywhere
/// in the model, and what it looks at is answered from the model meanwhile. All instances of all
/// types travel in few requests. Python is only asked if an instance may become such a resource, so
/// other models do not pay for it.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/export/declaration.h"
#include "model/export/python_resources.h"
#include "model/export/references.h"
#include "versions/version.h"

namespace fettle::model {

class Python;

/// What an instance became as one of its types.
struct PythonMade {
  std::string type;
  enum class Fate : uint8_t { made, ignored, unknown } fate = Fate::made;
  fettle::Name id;
  std::vector<Entry> fields;  ///< an unknown one is `Value::unknown()`
};

/// What managers of dependencies get of a resource.
struct PythonNeeds {
  const Instance* instance = nullptr;
  const Item* item = nullptr;
};

class PythonExport {
 public:
  /// `id_of`: of an instance that another declaration makes a resource.
  PythonExport(const Model& model, const Declarations& declarations, IdOf id_of);

  /// Looks for instances of such resources, loads the modules if there are any, and makes them.
  /// Errors (`Blame::user`): a module cannot be loaded, or a serializer failed.
  Status make_all();

  /// The types as which instances of an entity are exported, in the order of their registration.
  const std::vector<std::string>& types_of(const Entity& entity);
  std::span<PythonMade> made_of(const Instance& instance);
  /// Why Python was needed for an entity and had nothing for it. Empty: it was not.
  std::string problem_of(const Entity& entity) const;

  bool has_managers() const { return has_managers_; }
  /// The needs of all resources as managers left them.
  Result<std::map<std::string, std::vector<fettle::Name>, std::less<>>> managed(
      std::span<const PythonNeeds> resources);

  /// The handlers of the made types that have one, by type: `{"name", "source", "interpreter"}`.
  Result<std::vector<std::pair<fettle::Name, Value>>> handlers();

  /// Contents that serializers stored: base64 by SHA-1.
  std::map<std::string, std::string> files;

 private:
  bool is_mentioned(const Entity& entity) const;
  bool is_nearer(const Entity& entity, const Entity& ancestor) const;
  Status load();
  Status make(std::span<const std::pair<const Instance*, std::string>> wanted);
  Result<Value> ask(Value request);
  Result<Value> answer(const Value& asked);
  Result<Value> attribute(const Value& read);
  std::string problem_text() const;
  Result<Value> lent(const Instance& instance, bool with_values);

  const Model& model_;
  const Declarations& declarations_;
  IdOf id_of_;
  PythonMentions mentions_;
  std::vector<std::string> registered_;          ///< types, in the order of registration
  std::map<std::string, std::string> problems_;  ///< of modules that cannot be loaded
  std::vector<std::string> handled_;             ///< types with a handler
  bool is_loaded_ = false, has_managers_ = false;
  std::unordered_map<const Entity*, std::vector<std::string>> types_;
  std::unordered_map<uint32_t, std::vector<PythonMade>> made_;  ///< by number of instance
};

}  // namespace fettle::model
