#include "states/additions.h"

#include "base/text.h"
#include "states/arrange.h"
#include "value/json.h"

namespace fettle::states {
namespace {

constexpr std::string_view plain_pipe = "json";

class AdditionReader {
 public:
  AdditionReader(const CompileOptions& options, const GatherContext& gathering,
                 const HighOptions& high)
      : options_(options), with_(gathering), high_(high) {}

  Additions read() {
    for (const Addition& addition : options_.additions) {
      by_ = addition.by.str();
      if (const Value& block = addition.what.at("block"); !block.is_null())
        add_text(std::string(block.text_at("text")),
                 block.at("pipe").is_null() ? options_.pipe : std::string(block.text_at("pipe")));
      if (const Value& chunk = addition.what.at("chunk"); !chunk.is_null())
        add_chunk(chunk);
      if (const Value& files = addition.what.at("sls"); !files.is_null())
        add_files(files);
    }
    return std::move(made_);
  }

 private:
  std::string name_of(std::string_view what) const { return cat(what, " of ", by_); }

  /// The documents of a text that stands in no file.
  GatheredFiles gathered_of(std::string what, std::string text, std::string_view pipe,
                            const GatherContext& with) {
    const Result<std::vector<Stage>> stages = parse_pipe(pipe);
    if (!stages) {
      with.report.error(user_error(cat(name_of(what), ": ", stages.error().message)));
      return {};
    }
    SourceFile file;
    file.ref = file.name = name_of(what);
    file.text = std::make_shared<const std::string>(std::move(text));
    GatherContext own{with.sources, with.texts,    with.rendering,
                      *stages,      with.outcomes, with.report};
    return gather(std::move(file), own);
  }

  void add_text(std::string text, std::string_view pipe) {
    for (Document& document : gathered_of("the block", std::move(text), pipe, with_).documents)
      made_.documents.push_back(std::move(document));
  }

  void add_chunk(const Value& chunk) {
    std::vector<Value> arguments;
    for (const Entry& entry : chunk.entries())
      if (entry.key != "state" && entry.key != "fun" && entry.key != "__id__")
        arguments.push_back(Value::dict({entry}));
    const Value document =
        Value::dict({{chunk.text_at("__id__"),
                      Value::dict({{cat(chunk.text_at("state"), ".", chunk.text_at("fun")),
                                    Value::list(std::move(arguments))}})}});
    add_text(write_json(document), plain_pipe);
  }

  /// The parameters of added files: those of their own files, overridden by the given values.
  Params params_of_files(const Value& asked) {
    const Params none;
    BlockRenderer rendering(with_.sources, with_.texts, none, options_.host, with_.outcomes);
    const GatherContext own{with_.sources, with_.texts,    rendering,
                            with_.pipe,    with_.outcomes, with_.report};
    std::vector<std::string> refs;
    for (const Value& ref : asked.at("params").items())
      refs.push_back(ref.text().str());
    GatheredFiles gathered = gather(refs, own);
    GatheredFiles values =
        gathered_of("the parameters", write_json(asked.at("values")), plain_pipe, own);
    for (Document& document : values.documents) {
      gathered.documents.push_back(std::move(document));
      gathered.levels.push_back(0);
    }
    return states::params_of(gathered);
  }

  void add_files(const Value& asked) {
    auto files = std::make_unique<AddedFiles>();
    files->params = params_of_files(asked);
    BlockRenderer rendering(with_.sources, with_.texts, files->params, options_.host,
                            with_.outcomes);
    std::vector<std::string> refs;
    for (const Value& ref : asked.at("sources").items())
      refs.push_back(ref.text().str());
    files->gathered = gather(
        refs, {with_.sources, with_.texts, rendering, with_.pipe, with_.outcomes, with_.report});
    files->high = read_high(files->gathered.documents, high_, with_.report);
    arrange(files->high, !files->gathered.delayed.empty(), with_.report);
    const Name prefix(asked.text_at("prefix"));
    for (Document& document : files->gathered.documents)
      document.prefix = prefix;
    for (Declaration& one : files->high.declarations)
      one.id = cat(prefix, one.id);
    made_.files.push_back(std::move(files));
  }

  const CompileOptions& options_;
  const GatherContext& with_;
  const HighOptions& high_;
  std::string by_;
  Additions made_;
};

}  // namespace

Additions read_additions(const CompileOptions& options, const GatherContext& gathering,
                         const HighOptions& high) {
  return AdditionReader(options, gathering, high).read();
}

bool adds_states(const Name& state, const Name& function) {
  return (state == "render" && function == "block") || (state == "sls" && function == "run") ||
         (state == "test" && function == "update_low");
}

}  // namespace fettle::states
