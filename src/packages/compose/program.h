#pragma once
/// A compose project as the text of a Starlark package, in the form in which Kurtosis writes it.
/// The text is interpreted like any other package, so a project is planned, explained, compared and
/// run by the code for packages, and nothing is written twice. What packages cannot express is
/// noted.

#include "packages/compose/project.h"

namespace fettle::compose {

struct Program {
  std::string text{};
  std::vector<Where> origins{};  ///< of each line: the part of the project that it stands for
  std::vector<std::string> warnings{};
  std::vector<std::string> hidden{};  ///< the contents of secrets
};

/// Errors (`Blame::user`) as `read_project`.
Result<Program> compose_program(const ProjectRequest& request);

/// The `name` of the project, if a line of the file begins with it; empty: there is none, or it has
/// variables.
std::string project_name(std::string_view text);
/// Whether a file is one that compose looks for by its name.
bool is_compose_name(std::string_view file);
/// The first of them in a folder, in the order of Kurtosis; empty: there is none.
std::string compose_file_in(const ClosedFolder& tree, const std::string& inside);
/// The override file that compose reads beside it; empty: there is none.
std::string override_of(const ClosedFolder& tree, const std::string& inside, std::string_view file);

}  // namespace fettle::compose
