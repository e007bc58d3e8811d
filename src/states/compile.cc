#include "states/compile.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "states/additions.h"
#include "states/arrange.h"
#include "states/compilation.h"

namespace fettle::states {
namespace {

/// Files of parameters have their own sources, and are rendered without parameters.
Params params_of_files(Files& files, const CompileOptions& options, std::span<const Stage> pipe,
                       Texts& texts, Report& report) {
  Result<Sources> sources = Sources::make(options.param_sources, options.params, files);
  if (!sources) {
    report.error(std::move(sources).error());
    return {};
  }
  const Params none;
  BlockRenderer rendering(*sources, texts, none, options.host, nullptr);
  return params_of(gather(options.params, {*sources, texts, rendering, pipe, nullptr, report}));
}

/// Keeps metas by file and by `ref.ID`.
void keep_metas(const High& high, CompiledStates& made) {
  for (const auto& [ref, meta] : high.metas)
    made.file_metas.insert_or_assign(ref, value_of(*meta));
  for (const Declaration& one : high.declarations)
    if (one.meta != nullptr)
      made.id_metas.insert_or_assign(cat(one.document->ref, ".", one.id), value_of(*one.meta));
}

const Catalogue& catalogue_in(const CompileOptions& options) {
  return options.catalogue != nullptr ? *options.catalogue : builtin_states();
}

/// Whether a block that waits may declare an ID once it is rendered.
bool may_declare(const DelayedBlock& block, const Name& id) {
  const std::string& text = *block.text;
  return text.find("{{") != text.npos || text.find("{%") != text.npos ||
         text.find(id.view()) != text.npos;
}

/// Checks that each ID for which a block waits can come from a file or from another block.
void check_blocks(const High& high, std::span<const DelayedBlock> delayed, Report& report) {
  if (delayed.empty())
    return;
  std::unordered_set<Name> ids;
  std::vector<std::string_view> names;
  for (const Declaration& one : high.declarations) {
    ids.insert(one.id);
    names.push_back(one.id);
  }
  std::vector<const DelayedBlock*> rendered, others;
  const auto comes = [&](const DelayedBlock::AwaitedState& one) {
    return ids.contains(one.id) || std::ranges::any_of(rendered, [&](const DelayedBlock* block) {
             return may_declare(*block, one.id);
           });
  };
  for (const DelayedBlock& block : delayed)
    others.push_back(&block);
  for (size_t before = SIZE_MAX; others.size() < before;) {
    before = others.size();
    const auto waiting = std::ranges::stable_partition(others, [&](const DelayedBlock* block) {
      return !std::ranges::all_of(block->awaited, comes);
    });
    rendered.insert(rendered.end(), waiting.begin(), waiting.end());
    others.erase(waiting.begin(), waiting.end());
  }
  for (const DelayedBlock* waiting : others)
    for (const DelayedBlock& block = *waiting;
         const DelayedBlock::AwaitedState& awaited : block.awaited)
      if (!comes(awaited))
        report.error(awaited.at, cat("a block of SLS ", block.ref, " requires the ID ", awaited.id,
                                     ", which does not exist",
                                     report.takes_hints() ? suggestion(awaited.id, names) : ""));
}

/// Added files have IDs of their own. An ID that exists already is an error.
void take_added_files(Front& front) {
  if (front.added.files.empty())
    return;
  std::unordered_set<Name> ids;
  for (const Declaration& one : front.high.declarations)
    ids.insert(one.id);
  for (const auto& files : front.added.files) {
    for (Declaration& one : files->high.declarations) {
      if (!ids.insert(one.id).second)
        front.report.error(one.position(), cat("the ID ", one.id, " already exists"));
      front.high.declarations.push_back(std::move(one));
    }
    front.gathered.delayed.insert(front.gathered.delayed.end(), files->gathered.delayed.begin(),
                                  files->gathered.delayed.end());
  }
}

/// Whether there are states that have not run and may add others.
bool waits_for_additions(const CompiledStates& made, const CompileOptions& options) {
  return std::ranges::any_of(made.chunks, [&](const Chunk& chunk) {
    return adds_states(chunk.state, chunk.function) &&
           std::ranges::none_of(options.additions, [&](const Addition& addition) {
             return addition.by == key_of(chunk);
           });
  });
}

}  // namespace

bool Memory::has(const Name&, const Name&, const Name&) const { return false; }

Front::Front() : report(texts) {}

std::unique_ptr<Front> read_front(std::span<const std::string> words, Files& files,
                                  const CompileOptions& options) {
  auto front = std::make_unique<Front>();
  Report& report = front->report;
  report.spares_parameters = options.given_params && options.given_params->asked() != nullptr;
  const Result<std::vector<Stage>> pipe = parse_pipe(options.pipe);
  if (!pipe) {
    report.error(pipe.error());
    return front;
  }
  // Files' own parameters are checked, too, even if others stand for them that only report what is
  // asked.
  if (!options.given_params || report.spares_parameters)
    front->params = params_of_files(files, options, *pipe, front->texts, report);
  if (options.given_params)
    front->params = *options.given_params;
  Result<Sources> sources = Sources::make(options.sources, words, files);
  if (!sources) {
    report.error(std::move(sources).error());
    return front;
  }
  front->sources.emplace(std::move(*sources));
  BlockRenderer rendering(*front->sources, front->texts, front->params, options.host,
                          options.outcomes);
  front->gathered =
      gather(words, {*front->sources, front->texts, rendering, *pipe, options.outcomes, report});
  const Catalogue& catalogue = catalogue_in(options);
  const HighOptions high{options.is_lenient,
                         [&](std::string_view ref) { return catalogue.find(ref) != nullptr; }};
  front->added = read_additions(
      options, {*front->sources, front->texts, rendering, *pipe, options.outcomes, report}, high);
  for (Document& document : front->added.documents) {
    front->gathered.documents.push_back(std::move(document));
    front->gathered.levels.push_back(0);
  }
  front->high = read_high(front->gathered.documents, high, report);
  if (options.outcomes == nullptr)  // otherwise the other blocks go on
    check_blocks(front->high, front->gathered.delayed, report);
  arrange(front->high, !front->gathered.delayed.empty(), report);
  take_added_files(*front);
  front->low = make_low(front->high, catalogue.waits(), report);
  return front;
}

CompiledStates finish(Front& front, const CompileOptions& options) {
  CompiledStates made;
  made.delayed = front.gathered.delayed;
  made.is_inverted = options.is_inverted;
  keep_metas(front.high, made);
  made.chunks = std::move(front.low.chunks);
  made.waits_for_additions = waits_for_additions(made, options);
  Compilation compilation{
      options, catalogue_in(options), made, front.report, std::move(front.low.bodies), {}, {}};
  check_calls(compilation);
  if (front.sources)
    read_contents(compilation, *front.sources);
  resolve_needs(compilation);
  bind_references(compilation);
  add_implied(compilation);
  if (options.is_inverted)
    invert(compilation);
  if (!options.target.empty())
    select_target(compilation);
  put_in_order(compilation);
  made.files = front.texts.names();
  made.errors = std::move(front.report.errors);
  made.warnings = std::move(front.report.warnings);
  return made;
}

CompiledStates compile(std::span<const std::string> words, Files& files,
                       const CompileOptions& options) {
  const std::unique_ptr<Front> front = read_front(words, files, options);
  return finish(*front, options);
}

bool Compilation::is_asked(std::string_view text) const {
  return options.given_params && options.given_params->asked() != nullptr &&
         text.find("{{ params") != text.npos;
}

void Compilation::fail(Chunk& chunk, Position at, const std::string& comment,
                       const std::function<std::string()>& hint) {
  if (!options.is_lenient) {
    const std::string meant = hint && report.takes_hints() ? hint() : "";
    // Cuts a suggestion off behind its sentence.
    const size_t ends = meant.starts_with(',') && comment.ends_with('.') ? 1 : 0;
    report.error(at, cat(std::string_view(comment).substr(0, comment.size() - ends), meant));
  } else if (chunk.failure.empty())
    chunk.failure = comment;
  else
    chunk.failure = cat(chunk.failure, "\n", comment);
}

StateTag state_tag(const Chunk& chunk) {
  return {chunk.state, chunk.id, chunk.entry, chunk.function};
}

Name key_of(const Chunk& chunk) { return state_tag(chunk).key(); }

std::string tag_of(const Chunk& chunk) { return state_tag(chunk).tag(); }

std::string CompiledStates::place_of(Position position) const {
  if (position.file >= files.size() || position.line == 0)
    return {};
  return cat(files[position.file], ":", position.line, ":", position.column);
}

}  // namespace fettle::states
