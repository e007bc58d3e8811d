#include "base/text.h"
#include "kinds/artifact.h"
#include "kinds/kinds.h"
#include "packages/instructions/instruction.h"
#include "packages/names.h"
#include "packages/service_config.h"
#include "template/go/template.h"

namespace fettle {
namespace {

/// Whether a path stays below the root of the artifact; a slash in front of it means nothing.
bool is_inside(std::string_view path) {
  int depth = 0;
  for (const std::string_view step : split(path, '/')) {
    depth += step == ".." ? -1 : step.empty() || step == "." ? 0 : 1;
    if (depth < 0)
      return false;
  }
  return depth > 0;
}

/// No file twice, and none where another one wants a folder.
Status check_paths(starlark::Value config) {
  std::set<std::string> files, folders;
  for (const auto& [path, given] : starlark::entries_of(config)) {
    std::string plain;
    const std::string whole = starlark::text_of(path);
    for (const std::string_view step : split(whole, '/')) {
      if (step.empty() || step == ".")
        continue;
      if (!plain.empty())
        folders.insert(plain);
      plain += cat("/", step);
    }
    if (!files.insert(plain).second)
      return user_error(cat("`", whole, "` is rendered twice"));
  }
  for (const std::string& file : files)
    if (folders.contains(file))
      return user_error(cat("`", file.substr(1), "` is rendered as a file and as a folder"));
  return {};
}

Result<Value> template_attributes(const InstructionCall& call, std::string_view path,
                                  starlark::Value given) {
  const auto text = starlark::field_of(given, "template"), data = starlark::field_of(given, "data");
  if (!is_inside(path))
    return user_error(cat("the path `", path, "` leads outside the files artifact"));
  if (!text || !data || starlark::type_of(*text) != starlark::Type::text)
    return user_error(
        cat("the config of `", path, "` must be a struct with `template`, a string, and `data`"));
  const std::string source = starlark::text_of(*text);
  // The message says where in the template; the place of the error is that of the instruction.
  const auto parsed = go_template::Template::parse(std::string(path), source);
  if (!parsed)
    return user_error(parsed.error().message);
  const Value plain = TRY(plain_with_holes(call.draft, call.thread, *data));
  // Data without holes can be rendered now, and must be.
  if (!plain.has_deferred())
    if (const auto rendered = parsed->render(plain); !rendered)
      call.draft.finding(rendered.error().message);
  return write(FileTemplate{.text = source, .data = plain});
}

Result<starlark::Value> interpret_render_templates(InstructionCall& call) {
  Draft& draft = call.draft;
  const std::string name = call.has(1) ? call.text(1) : draft.unnamed_artifact();
  if (Status fine = check_artifact_name(name); !fine)
    draft.finding(fine.error().message);
  std::vector<Entry> templates;
  for (const auto& [path, given] : starlark::entries_of(call.arguments[0])) {
    if (starlark::type_of(path) != starlark::Type::text)
      return user_error("`config` must map paths to structs with `template` and `data`");
    templates.push_back(
        {starlark::text_of(path), TRY(template_attributes(call, starlark::text_of(path), given))});
  }
  if (templates.empty())
    return user_error("`config` needs at least one template");
  TRY(check_paths(call.arguments[0]));
  draft.detail("artifact", name);
  Artifact rendered;
  rendered.source = "render";
  rendered.templates = Value::dict(std::move(templates));
  draft.make_artifact(name, rendered, Author::maker).driver = "host";
  return call.thread.heap().text(name);
}

}  // namespace

Instruction render_templates_instruction() {
  return {"render_templates",
          {{"config", starlark::Want::dict}, {"name??", starlark::Want::text}},
          interpret_render_templates,
          [](const Value& arguments) {
            return cat("Rendering a template to a files artifact with name '",
                       arguments.text_at("name"), "'");
          },
          [](const EndedStatement& ended) {
            return cat("Templates artifact name '", ended.detail("artifact"),
                       "' rendered with artifact UUID '",
                       read_one<&ArtifactOutputs::uuid>(ended.outputs("artifact")), "'");
          },
          {.identity = OverlapRule::Identity::artifacts}};
}

}  // namespace fettle
