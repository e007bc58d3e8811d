#include "base/text.h"
#include "cli/commands/commands.h"

namespace fettle {

CommandOption environment_option() {
  return {{"-e", "--enclave", "--environment"}, "NAME", "the environment, by name or uuid"};
}

Result<Environment> environment_of(Face& face, size_t argument) {
  Workplace* place = TRY(face.workplace());
  std::string name = face.parsed.text("enclave");
  if (name.empty())
    name = face.parsed.argument(argument);
  if (name.empty())
    return user_error("name the environment: `fettle enclave ls` lists them");
  return find_environment(*place, name);
}

}  // namespace fettle
