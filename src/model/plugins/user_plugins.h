#pragma once
/// Plugins of modules and projects: Starlark functions in `plugins/*.star`, and executables in
/// `plugins/` that speak JSON lines. Both are known by a signature, as the plugins of `std` are.
///
/// Starlark: every function whose name does not begin with `_`, with annotations as types.
/// Instances arrive as structs of their attributes. Beside the language there are
/// `read_text(path)`, `read_yaml(path)` and `write_text(path, text)`, below the folder of the
/// project, and `lock(path)`: until the call ends, other processes that lock the file wait.
///
/// Executable (`programs/program.h`): `{"describe": true}` is answered by
/// `{"plugins": {"name": "(a: int) -> string"}}`, `{"call": "name", "arguments": {…}}` by
/// `{"result": …}` or `{"error": "text"}`.

#include <memory>

#include "model/evaluate/plugin.h"

namespace fettle::model {

/// The plugin of a namespace's own module. Null: it has none of that name. A plugin whose file
/// cannot be used fails with the reason when it is called.
std::shared_ptr<Plugin> find_user_plugin(Program& program, Space& space, std::string_view name);

}  // namespace fettle::model
