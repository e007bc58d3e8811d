#include "model/export/declaration.h"

#include <algorithm>

#include "base/text.h"
#include "model/export/attributes.h"
#include "model/export/instance_view.h"
#include "model/export/shipped.h"
#include "starlark/starlark.h"

namespace fettle::model {
namespace {

namespace star = starlark;

/// The interpreter in which the functions of the declarations live.
struct Interpreter {
  star::Session session{star::Dialect::of(star::Profile::go), {.steps = 1'000'000'000}};
  std::vector<star::ModulePtr> modules;
  std::string ignored;  ///< why a function wants the resource left out; empty: it does not
  star::Thread thread{session};
  InstanceViews views{thread};

  /// The instance of the last call, for all functions that are called for it.
  const Instance* seen = nullptr;
  std::optional<star::Handle> view;
  bool has_unknown = false;
};
using InterpreterPointer = std::shared_ptr<Interpreter>;

Result<FieldAnswer> call(const InterpreterPointer& interpreter, star::Value function,
                         const Model& model, const Instance& instance) {
  star::Thread& thread = interpreter->thread;
  if (interpreter->seen != &instance) {
    interpreter->view.reset();
    interpreter->has_unknown = false;
    interpreter->view.emplace(thread,
                              interpreter->views.view(model, instance, interpreter->has_unknown));
    interpreter->seen = &instance;
  }
  interpreter->ignored.clear();
  const Result<star::Value> made = thread.call(function, {interpreter->view->get()});
  if (!interpreter->ignored.empty())
    return FieldAnswer{FieldAnswer::Type::ignored, {}};
  if (!made && interpreter->has_unknown)
    return FieldAnswer{FieldAnswer::Type::unknown, {}};
  if (!made)
    return made.error();
  return FieldAnswer{FieldAnswer::Type::value, TRY(star::to_value(thread, *made))};
}

class DeclarationReader {
 public:
  explicit DeclarationReader(Declarations& declarations)
      : declarations_(declarations), interpreter_(std::make_shared<Interpreter>()) {
    star::Session& session = interpreter_->session;
    session.predeclare("resource", session.native("resource", [this](star::Call& given) {
      return declare(given);
    }));
    session.predeclare(
        "ignore",
        session.native(
            "ignore", [interpreter = interpreter_.get()](star::Call& given) -> Result<star::Value> {
              static const star::Signature signature("ignore", {{"reason?", star::Want::text}});
              const std::vector<star::Value> bound = TRY(signature.bind(given));
              interpreter->ignored = bound[0].is_unset() ? "ignored" : star::text_of(bound[0]);
              return given.thread.error("the resource is left out");
            }));
  }

  /// Reads every `.star` file of a folder, sorted by name.
  Status read_folder(const Path& folder, const std::string& space) {
    std::error_code failure;
    std::vector<Path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failure))
      if (entry.path().extension() == ".star")
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    space_ = space;
    for (const Path& file : files) {
      file_ = file.string();
      interpreter_->modules.push_back(TRY(interpreter_->session.run(file_, TRY(read_file(file)))));
    }
    return {};
  }

 private:
  Result<star::Value> declare(star::Call& given) {
    static const star::Signature signature("resource",
                                           {{"entity", star::Want::text},
                                            {"id_attribute", star::Want::text},
                                            {"agent", star::Want::text | star::Want::callable},
                                            {"fields?", star::Want::list | star::Want::tuple},
                                            {"get?", star::Want::dict},
                                            {"handler?", star::Want::text},
                                            {"deadline?", star::Want::text}});
    const std::vector<star::Value> bound = TRY(signature.bind(given));
    Declaration declaration;
    declaration.file = file_;
    declaration.entity = star::text_of(bound[0]);
    if (declaration.entity.find("::") == std::string::npos)
      declaration.entity = cat(space_, "::", declaration.entity);
    declaration.id_attribute = star::text_of(bound[1]);
    if (star::type_of(bound[2]) == star::Type::text)
      declaration.agent = star::text_of(bound[2]);
    else
      declaration.agent_function = function_of(bound[2]);
    TRY(read_fields(given, bound[3], declaration));
    TRY(read_get(given, bound[4], declaration));
    if (!bound[5].is_unset())
      declaration.handler = star::text_of(bound[5]);
    if (!bound[6].is_unset()) {
      declaration.deadline = star::text_of(bound[6]);
      if (const Result<Duration> time = parse_duration(declaration.deadline); !time || *time <= 0s)
        return given.thread.error(
            cat("the deadline `", declaration.deadline, "` is not a time such as \"20s\""));
    }
    const auto before = declarations_.find(declaration.entity);
    if (before != declarations_.end() && !before->second.file.empty())
      return given.thread.error(
          cat("`", declaration.entity, "` is declared in `", before->second.file, "` already"));
    declarations_[declaration.entity] = std::move(declaration);
    return star::Value::none();
  }

  Status read_fields(star::Call& given, star::Value fields, Declaration& declaration) const {
    static const std::vector<std::string> reserved{"clone",       "id",       "is_type",
                                                   "model",       "requires", "serialize",
                                                   "set_version", "unknowns", "version"};
    if (fields.is_unset())
      return {};
    for (size_t i = 0; i < star::length_of(fields); ++i) {
      const star::Value field = star::item_of(fields, i);
      if (star::type_of(field) != star::Type::text)
        return given.thread.error("`fields` must be a list of strings");
      std::string name = star::text_of(field);
      if (name.starts_with('_') ||
          std::find(reserved.begin(), reserved.end(), name) != reserved.end())
        return given.thread.error(
            cat("\"", name, "\" is a reserved keyword and not allowed as a field of a resource"));
      declaration.fields.push_back(std::move(name));
    }
    return {};
  }

  Status read_get(star::Call& given, star::Value get, Declaration& declaration) const {
    if (get.is_unset())
      return {};
    for (const auto& [key, function] : star::entries_of(get)) {
      const star::Type type = star::type_of(function);
      if (star::type_of(key) != star::Type::text ||
          (type != star::Type::function && type != star::Type::builtin))
        return given.thread.error("`get` must map names of fields to functions");
      declaration.get.emplace(star::text_of(key), function_of(function));
    }
    return {};
  }

  GetFunction function_of(star::Value function) const {
    return [interpreter = interpreter_, function](const Model& model, const Instance& instance) {
      return call(interpreter, function, model, instance);
    };
  }

  Declarations& declarations_;
  InterpreterPointer interpreter_;
  std::string space_, file_;
};

}  // namespace

Result<Declarations> declarations_of(const Model& model, const Project* project) {
  Declarations declarations = shipped_declarations();
  DeclarationReader reader(declarations);
  for (const auto& [name, module] : model.program.modules) {
    // A project's own module replaces one of the same name that ships with fettle.
    std::erase_if(declarations, [&](const auto& shipped) {
      return shipped.second.file.empty() && shipped.first.starts_with(name + "::");
    });
    TRY(reader.read_folder(module.folder / "resources", name));
  }
  if (project != nullptr)
    TRY(reader.read_folder(project->main.parent_path() / "resources", "__config__"));
  return declarations;
}

}  // namespace fettle::model
