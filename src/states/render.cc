#include "states/render.h"

#include "base/base64.h"
#include "base/text.h"
#include "states/hub.h"
#include "value/json_tree.h"
#include "value/yaml_tree.h"

namespace fettle::states {
namespace {

/// The filters that Idem adds to Jinja's.
jinja::Function find_filter(const std::string& name) {
  if (name != "b64encode" && name != "b64decode")
    return {};
  return [encodes = name == "b64encode"](jinja::Arguments& arguments) -> Result<jinja::Value> {
    const jinja::Value value =
        arguments.positional.empty() ? jinja::Value() : arguments.positional[0];
    if (value.is_undefined())
      return jinja::undefined_error(value);
    if (!value.is_text())
      return jinja::raise("AttributeError",
                          cat("'", jinja::type_name(value), "' object has no attribute 'encode'"));
    if (encodes)
      return jinja::Value(base64_encode(value.text()));
    std::string bytes = TRY(base64_decode(value.text()));
    if (!is_valid_utf8(bytes))
      return jinja::raise("UnicodeDecodeError", "the result of `b64decode` is not UTF-8");
    return jinja::Value(std::move(bytes));
  };
}

/// `jinja2.exceptions.UndefinedError: 'x' is undefined`, as Idem words it.
std::string worded(std::string_view message) {
  constexpr std::string_view prefix = "jinja2.exceptions.";
  if (message.starts_with(prefix))
    message.remove_prefix(prefix.size());
  const size_t colon = message.find(": ");
  const std::string_view type = message.substr(0, colon);
  if (colon == message.npos || type.find_first_of(" '\"") != type.npos)
    return std::string(message);
  const std::string_view rest = message.substr(colon + 2);
  if (type == "UndefinedError")
    return cat("Jinja variable: ", rest);
  if (type == "TemplateSyntaxError" || type == "TemplateAssertionError")
    return cat("Jinja syntax error: ", rest);
  return type.ends_with("Error") ? std::string(rest) : cat(type, ": ", rest);
}

/// Words a message of the readers of data as Idem does.
std::string data_problem(std::string_view message) {
  for (const std::string_view prefix : {"invalid YAML: ", "invalid JSON: "})
    if (message.starts_with(prefix))
      message.remove_prefix(prefix.size());
  constexpr std::string_view key = "the key `", twice = "` occurs twice";
  if (message.starts_with(key) && message.ends_with(twice))
    return cat("found conflicting ID '",
               message.substr(key.size(), message.size() - key.size() - twice.size()), "'");
  return std::string(message);
}

bool has_tags(std::string_view text) {
  return text.find("{{") != text.npos || text.find("{%") != text.npos ||
         text.find("{#") != text.npos;
}

Value without_mark(Value value) {
  if (!value.is_text() || value.text().view().find(none_mark) == std::string_view::npos)
    return value;
  return value.text() == none_mark ? Value() : Value(replace_all(value.text(), none_mark, ""));
}

}  // namespace

jinja::Environment template_environment(
    std::function<Result<std::optional<std::string>>(const std::string&)> load, const Host& host) {
  jinja::Environment made;
  made.syntax.has_loop_controls = true;
  made.load = std::move(load);
  made.find_filter = find_filter;
  made.draw = host.draw;
  made.limits = host.limits;
  return made;
}

BlockRenderer::BlockRenderer(Sources& sources, Texts& texts, const Params& params, const Host& host,
                             const Outcomes* outcomes)
    : sources_(sources),
      texts_(texts),
      params_(params),
      engine_(template_environment([this](const std::string& name) { return load(name); }, host)),
      hub_(make_hub(host, outcomes)) {}

Result<std::optional<std::string>> BlockRenderer::load(const std::string& name) {
  Result<std::optional<SourceFile>> file = sources_.at_path(name);
  if (!file)
    return file.error().blame == Blame::world ? Result<std::optional<std::string>>(file.error())
                                              : std::optional<std::string>();
  if (!*file)
    return std::optional<std::string>();
  templates_[name] = texts_.add((*file)->name, (*file)->text);
  return std::optional(*(*file)->text);
}

uint32_t BlockRenderer::number_of(const std::string& name) const {
  const auto found = templates_.find(name);
  return found == templates_.end() ? 0 : found->second;
}

Error BlockRenderer::placed(const SourceFile& file, Position position, std::string message) const {
  Error error =
      user_error(cat("Error while parsing '", file.ref, "': ", message), texts_.where(position));
  error.excerpt = texts_.excerpt_of(position);
  return error;
}

Result<std::string> BlockRenderer::jinja(const SourceFile& file, std::string_view text,
                                         PlaceMap& places) {
  const jinja::Lookup names = [this](std::string_view name) -> Result<std::optional<jinja::Value>> {
    if (name == "params")
      return std::optional(params_.object());
    return name == "hub" ? std::optional(hub_) : std::optional<jinja::Value>();
  };
  Result<jinja::TracedText> traced = engine_.trace_text(file.name, text, names);
  if (!traced) {
    const Where& where = traced.error().where;
    const Place place{static_cast<uint32_t>(where.line), static_cast<uint32_t>(where.column)};
    const Position position = where.file == file.name || !templates_.contains(where.file)
                                  ? places.position(place)
                                  : Position{number_of(where.file), place.line, place.column};
    const std::string_view allows = !engine_.budget().is_over() ? ""
                                    : engine_.budget().is_out_of_memory()
                                        ? "; `--memory` allows more"
                                        : "; `--steps` allows more";
    return placed(file, position, cat(worded(traced.error().message), allows));
  }
  std::vector<uint32_t> files;
  for (const std::string& name : traced->files)
    files.push_back(number_of(name));
  places = PlaceMap(*traced, files, std::move(places));
  return std::move(traced->text);
}

Result<Tree> BlockRenderer::data(Stage stage, bool replaces, const SourceFile& file,
                                 std::string_view text, const PlaceMap& places) {
  YamlOptions reading{.schema = YamlSchema::idem};
  if (params_.asked() != nullptr)
    reading.convert = [&](Value value) {
      value = replaces ? without_mark(std::move(value)) : value;
      return value.is_text() ? Value(params_.with_words(value.text())) : value;
    };
  else if (replaces && text.find(none_mark) != text.npos)
    reading.convert = without_mark;
  Result<Tree> tree = stage == Stage::yaml ? read_yaml_tree(text, file.name, reading)
                                           : read_json_tree(text, file.name, {}, reading.convert);
  if (tree)
    return tree;
  const Where& where = tree.error().where;
  const Position position =
      places.position({static_cast<uint32_t>(where.line), static_cast<uint32_t>(where.column)});
  return placed(file, position,
                cat(stage == Stage::yaml ? "Yaml" : "Json",
                    " render error: ", data_problem(tree.error().message)));
}

Result<Document> BlockRenderer::document(const SourceFile& file, const Block& block) {
  Document made;
  made.ref = file.ref;
  made.file = texts_.add(file.name, file.text);
  made.places = PlaceMap(made.file, block.line);
  std::string_view text = *block.text;
  std::string rendered;
  const bool replaces = block.pipe.back() == Stage::replacements;
  for (const Stage stage : block.pipe) {
    if (stage == Stage::jinja && has_tags(text))
      text = rendered = TRY(jinja(file, text, made.places));
    else if (stage == Stage::yaml || stage == Stage::json)
      made.tree = TRY(data(stage, replaces, file, text, made.places));
  }
  made.refers = text.find("${") != text.npos;
  return made;
}

}  // namespace fettle::states
