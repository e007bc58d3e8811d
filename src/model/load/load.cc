#include "model/load/load.h"

#include "base/text.h"
#include "model/std/modules.h"

namespace fettle::model {
namespace {

class Loader {
 public:
  Loader(Program& program, const Project* project, const std::function<void(const Error&)>& warn)
      : program_(program), project_(project), warn_(warn) {}

  void add(std::string space, std::string file_name, std::string text, const Module* module) {
    SourceFile& file =
        program_.files.emplace_back(SourceFile{std::move(file_name), std::move(text)});
    Space& made = program_.spaces.emplace_back();
    made.name = std::move(space);
    made.module = module;
    made.id = static_cast<uint32_t>(program_.spaces.size() - 1);
    const Warn warn = [&](Place at, const std::string& message) {
      constexpr int most = 100;
      if (warn_ && ++warned_ <= most)
        warn_(program_.error_at(at, warned_ < most ? message : "further warnings are omitted"));
    };
    Result<Unit> unit =
        parse(file.name, file.text, static_cast<uint32_t>(program_.files.size() - 1),
              program_.arena, program_.symbols, warn);
    if (!unit) {
      failures_.push_back({unit.error(), Importance::first});
      made.unit.body = program_.arena.make<Block>();
      return;
    }
    made.unit = *unit;
    if (check_twice(made.unit))
      for (const ImportDefinition* import : made.unit.imports)
        wanted_.push_back(import);
  }

  std::vector<Failure> run() {
    while (!wanted_.empty() && failures_.empty()) {
      const ImportDefinition& import = *wanted_.back();
      wanted_.pop_back();
      if (import.module.find('-') != import.module.npos) {
        failures_.push_back(
            {program_.error_at(import.at, cat(import.module,
                                              " is not a valid module name: hyphens are not "
                                              "allowed, please use underscores instead.")),
             Importance::other});
        break;
      }
      const std::string path = replace_all(import.module, "::", ":");
      std::string space;
      for (const std::string_view part : split(path, ':')) {
        space += cat(space.empty() ? "" : "::", part);
        if (program_.space(space) == nullptr && !load_space(space, import))
          break;
      }
    }
    return std::move(failures_);
  }

 private:
  bool load_space(const std::string& space, const ImportDefinition& import) {
    for (const StdSource& source : std_sources())
      if (source.space == space) {
        add(space, space, std::string(source.text), nullptr);
        return true;
      }
    const std::string name = space.substr(0, space.find(':'));
    const Module* module = module_of(name, import);
    if (module == nullptr)
      for (const StdSource& source : shipped_modules())
        if (source.space == space) {
          add(space, space, std::string(source.text), nullptr);
          return true;
        }
    if (module == nullptr && name != "std")
      return fail(import, name,
                  {cat("Could not find module ", name,
                       project_ == nullptr || !project_->has_file
                           ? ". Modules need a project: a project.yml with a modulepath"
                           : ". It is not in a folder of the modulepath")});
    if (module != nullptr)
      if (const Status status = check_module(*module); !status)
        return fail(import, name, {to_string(status.error())});
    const size_t rest = space.find("::");
    const std::string below =
        rest == std::string::npos ? "" : replace_all(space.substr(rest + 2), "::", "/");
    const Path model = module == nullptr ? Path("std") : module->model;
    Path file = model / below / "_init.cf";
    if (!below.empty() && !file_exists(file))
      file = model / cat(below, ".cf");
    const Result<std::string> text = read_file(file);
    if (module == nullptr || !text)
      return fail(
          import, space,
          {cat("could not locate module with name: ", space),
           cat("FileNotFoundError: [Errno 2] No such file or directory: '", file.string(), "'")});
    add(space, file.string(), *text, module);
    return true;
  }

  const Module* module_of(const std::string& name, const ImportDefinition& import) {
    const auto known = program_.modules.find(name);
    if (known != program_.modules.end())
      return &known->second;
    std::optional<Module> found;
    if (project_ != nullptr)
      found = project_->find_module(name);
    if (!found)
      return nullptr;
    if (warn_ && !found->hides.empty())
      warn_(program_.error_at(import.at,
                              cat("Module ", name,
                                  " is installed as a V1 module and a V2 module: V1 will be "
                                  "ignored. (",
                                  found->folder.string(), " hides ", found->hides.string(), ")")));
    return &program_.modules.emplace(name, std::move(*found)).first->second;
  }

  bool fail(const ImportDefinition& import, const std::string& name,
            std::vector<std::string> causes) {
    Failure made{program_.error_at(import.at, ""), Importance::first};
    made.reasons.push_back(
        {cat("Failed to load module ", name),
         cat("import ", import.module, " (", program_.location(import.at), ")")});
    for (std::string& cause : causes)
      made.reasons.push_back({std::move(cause), ""});
    failures_.push_back(std::move(made));
    return false;
  }

  /// A namespace may be imported under one name once.
  bool check_twice(const Unit& unit) {
    std::unordered_map<std::string, const ImportDefinition*> seen;
    for (const ImportDefinition* import : unit.imports) {
      const std::string name(import->has_alias ? program_.symbols.name(import->alias)
                                               : std::string(import->module));
      const auto [known, is_new] = seen.emplace(name, import);
      if (is_new)
        continue;
      failures_.push_back(
          {program_.error_at(import->at,
                             cat("Two import statements have the same name (original at (",
                                 program_.location(import->at), ")) (duplicate at (",
                                 program_.location(known->second->at), "))")),
           Importance::duplicate});
      return false;
    }
    return true;
  }

  Program& program_;
  const Project* project_;
  const std::function<void(const Error&)>& warn_;
  std::deque<const ImportDefinition*> wanted_;
  int warned_ = 0;
  std::vector<Failure> failures_;
};

}  // namespace

std::vector<Failure> load(Program& program, const std::string& main_name, const std::string& text,
                          const Project* project, const std::function<void(const Error&)>& warn) {
  Loader loader(program, project, warn);
  program.folder = project != nullptr ? project->folder : Path(main_name).parent_path();
  const StdSource& standard = std_sources().front();
  loader.add(std::string(standard.space), std::string(standard.space), std::string(standard.text),
             nullptr);
  loader.add("__config__", main_name, text, nullptr);
  return loader.run();
}

}  // namespace fettle::model
