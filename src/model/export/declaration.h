#pragma once
/// What becomes of instances of an entity when a model is exported: the declarations of resource
/// types. Those of a project stand in `resources/*.star` of a module or beside the main file:
///
///   resource(
///       entity = "fs::File",          # `File` is an entity of the module that the file belongs to
///       id_attribute = "path",        # or a key of `get`
///       agent = "host.name",          # a path from the instance, or a function of it
///       fields = ["path", "content"],
///       get = {"content": render},    # functions of the instance
///       handler = "files",            # who makes it true; may be missing
///       deadline = "20s",            # of each of its calls
///   )
///
/// A function is given the instance as a structure of its attributes: relations to one are
/// structures, too, relations to many are lists of them. `ignore(reason)` in a function leaves the
/// resource out.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/project/project.h"
#include "value/value.h"

namespace fettle::model {

/// What a function of a declaration returned for an instance.
struct FieldAnswer {
  enum class Type { value, unknown, ignored } type = Type::value;
  Value value;
};
using GetFunction = std::function<Result<FieldAnswer>(const Model&, const Instance&)>;

struct Declaration {
  std::string entity;  ///< full name
  std::string id_attribute;
  std::string agent;  ///< a path; empty: `agent_function`
  GetFunction agent_function;
  std::vector<std::string> fields;
  std::map<std::string, GetFunction> get;
  std::string handler;
  std::string deadline;  ///< of each call of the handler; empty: the usual one
  std::string file;      ///< where it was declared; empty: ships with fettle
};

/// The declarations by entity.
using Declarations = std::map<std::string, Declaration, std::less<>>;

/// The declarations that ship with fettle, and those of the loaded modules and of the project (may
/// be null), which replace the former. Errors (`Blame::user`): a file is wrong.
Result<Declarations> declarations_of(const Model& model, const Project* project);

}  // namespace fettle::model
