#include "drivers/engine/build_output.h"

#include "base/base64.h"
#include "base/text.h"
#include "drivers/cri/wire.h"

namespace fettle {
namespace {

constexpr size_t lines_of_failure = 10, longest_build_line = 500, most_steps = 10'000;
constexpr std::string_view trace_id = "moby.buildkit.trace";

/// Fields of BuildKit's `StatusResponse`, `Vertex` and `VertexLog`.
enum StatusField : uint32_t { status_vertex = 1, status_log = 3 };
enum VertexField : uint32_t { vertex_digest = 1, vertex_name = 3, vertex_error = 7 };
enum LogField : uint32_t { log_vertex = 1, log_bytes = 4 };

/// `[2/3] STEP 1/5: RUN x`, `STEP 1/2: RUN x`, `Step 1/4 : RUN x`.
bool begins_step(std::string_view line) {
  if (line.starts_with('['))
    line = trim(line.substr(std::min(line.find(']'), line.size() - 1) + 1));
  return lower_case(line.substr(0, 5)) == "step " && line.find('/') != line.npos;
}

}  // namespace

void BuildOutput::add(Step& step, std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find_first_of("\r\n");
    step.begun += text.substr(0, end);
    if (step.begun.size() > longest_build_line)
      step.begun = clipped(step.begun, longest_build_line);
    if (end == text.npos)
      return;
    text.remove_prefix(end + 1);
    const std::string line(trim(std::exchange(step.begun, {})));
    if (line.empty())
      continue;
    if (!is_graph_ && begins_step(line)) {
      step = {.name = line, .begun = {}};
      news_ = line;
      continue;
    }
    step.lines.push_back(line);
    if (step.lines.size() > lines_of_failure)
      step.lines.pop_front();
    news_ = step.name.empty() ? line : cat(step.name, ": ", line);
  }
}

Status BuildOutput::take_vertex(std::string_view bytes) {
  cri::MessageReader reader(bytes);
  std::string key, name, error;
  while (const auto field = TRY(reader.next())) {
    if (field->field == vertex_digest)
      key = TRY(field->text());
    else if (field->field == vertex_name)
      name = TRY(field->text());
    else if (field->field == vertex_error)
      error = TRY(field->text());
  }
  if (steps_.size() >= most_steps && !steps_.contains(key))
    return {};
  Step& step = steps_[key];
  if (step.name.empty() && !name.empty()) {
    step.name = name;
    if (!name.starts_with("[internal]"))
      news_ = name;
  }
  // What needs a step that failed is cancelled, which says nothing.
  if (!error.empty() && failed_.empty() && error.find("context canceled") == error.npos)
    failed_ = key;
  return {};
}

Status BuildOutput::take_log(std::string_view bytes) {
  cri::MessageReader reader(bytes);
  std::string key;
  std::string_view text;
  while (const auto field = TRY(reader.next())) {
    if (field->field == log_vertex)
      key = TRY(field->text());
    else if (field->field == log_bytes)
      text = TRY(field->message());
  }
  if (const auto found = steps_.find(key); found != steps_.end())
    add(found->second, text);
  return {};
}

Status BuildOutput::take_trace(std::string_view bytes) {
  is_graph_ = true;
  cri::MessageReader reader(bytes);
  while (const auto field = TRY(reader.next())) {
    if (field->field == status_vertex) {
      const std::string_view inside = TRY(field->message());
      TRY(take_vertex(inside));
    } else if (field->field == status_log) {
      const std::string_view inside = TRY(field->message());
      TRY(take_log(inside));
    }
  }
  return {};
}

Error BuildOutput::failure(std::string_view said) const {
  const auto found = steps_.find(failed_);
  const Step& step = found == steps_.end() ? step_ : found->second;
  std::string text = cat("cannot build `", image_, "`: ");
  if (!step.name.empty())
    text += cat("step `", clipped(printable(step.name), longest_build_line), "` failed: ");
  text += printable(trim(said));
  for (const std::string& line : step.lines)
    text += cat("\n  ", printable(line));
  return world_error(std::move(text));
}

Status BuildOutput::take(const Value& line) {
  if (const std::string_view said = line.text_at("error"); !said.empty())
    return failure(said);
  const std::string_view id = line.text_at("id");
  const Value& aux = line.at("aux");
  if (id == trace_id && aux.is_text()) {
    // A trace that cannot be read is no reason to end a build.
    if (const Result<std::string> bytes = base64_decode(aux.text().view()))
      static_cast<void>(take_trace(*bytes));
    return {};
  }
  if (aux.is_dict() && !aux.text_at("ID").empty())
    id_ = aux.text_at("ID");
  add(step_, line.text_at("stream"));
  return {};
}

std::string BuildOutput::news() { return std::exchange(news_, {}); }

}  // namespace fettle
