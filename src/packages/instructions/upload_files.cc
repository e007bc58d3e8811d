#include "base/http.h"
#include "base/text.h"
#include "kinds/artifact.h"
#include "kinds/kinds.h"
#include "packages/instructions/instruction.h"
#include "packages/names.h"

namespace fettle {
namespace {

bool is_url(std::string_view source) {
  return (source.starts_with("http://") || source.starts_with("https://")) &&
         !is_absolute_locator(source);
}

Result<starlark::Value> interpret_upload_files(InstructionCall& call) {
  Draft& draft = call.draft;
  const std::string source = call.text(0);
  const std::string name = call.has(1) ? call.text(1) : draft.unnamed_artifact();
  if (Status fine = check_artifact_name(name); !fine)
    draft.finding(fine.error().message);
  Artifact artifact;
  if (is_url(source)) {
    draft.hide(source.substr(std::min(source.find_first_of("?#"), source.size())));
    artifact = downloaded_artifact("url", source);
  } else {
    const Locator locator = TRY(call.sources.resolve(source, call.module));
    const std::string path = TRY(call.sources.path(locator));
    const std::string digest =
        TRY(draft.options().digest_of(path).context(cat("reading `", path, "`")));
    draft.uploads[digest] = path;
    artifact.source = "upload";
    artifact.digest = digest;
  }
  draft.detail("artifact", name);
  draft.make_artifact(name, artifact, Author::maker, true).driver = "host";
  return call.thread.heap().text(name);
}

}  // namespace

Instruction upload_files_instruction() {
  return {"upload_files",
          {{"src", starlark::Want::text}, {"name??", starlark::Want::text}},
          interpret_upload_files,
          [](const Value& arguments) {
            const std::string_view source = arguments.text_at("src");
            return cat("Uploading file '", is_url(source) ? shown_url(source) : source,
                       "' to files artifact '", arguments.text_at("name"), "'");
          },
          stored_files_line,
          {.identity = OverlapRule::Identity::artifacts, .compares_digests = true}};
}

}  // namespace fettle
