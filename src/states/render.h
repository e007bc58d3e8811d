#pragma once
/// Renders blocks of files: Jinja, then YAML or JSON. Templates see `params` and `hub`, of which
/// only `hub.exec.*` and `hub.idem.arg_bind.resolve` exist. They may include, import and extend the
/// files of the sources. Rendering acts only through the functions that its host lends.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "states/block.h"
#include "states/document.h"
#include "states/params.h"
#include "states/sources.h"
#include "value/mask.h"

namespace fettle::states {

/// Functions that rendering may use.
struct Host {
  /// Calls `hub.exec.PATH(…)`: returns a dictionary with `result`, `comment` and `ret`. None: there
  /// are no such functions.
  std::function<Result<Value>(std::string_view path, std::span<const Value> positional,
                              std::span<const Entry> named)>
      exec{};
  /// Draws a number for the filter `random`. None: the filter is an error.
  std::function<uint64_t()> draw{};
  jinja::Limits limits{.output = size_t{32} << 20};  ///< for each rendering
};

/// Jinja as files of states have it: its filters and statements, and where `load` finds templates.
jinja::Environment template_environment(
    std::function<Result<std::optional<std::string>>(const std::string& name)> load,
    const Host& host);

/// The states that were left in this run: for blocks that wait for them, and for
/// `hub.idem.arg_bind.resolve`.
class Outcomes {
 public:
  virtual ~Outcomes() = default;
  virtual bool has_run(std::string_view id) const = 0;
  /// None: it did not run, or left nothing.
  virtual std::optional<Value> new_state(std::string_view state, std::string_view id,
                                         std::string_view name) const = 0;
  /// Secrets that templates were given from these states. A text that contains one of them is a
  /// secret, too.
  Mask& secrets() const { return secrets_; }

 private:
  mutable Mask secrets_;
};

class BlockRenderer {
 public:
  /// All arguments must outlive the rendering; `outcomes` may be null.
  BlockRenderer(Sources& sources, Texts& texts, const Params& params, const Host& host,
                const Outcomes* outcomes);

  /// An error has a place in the sources and is worded as in Idem.
  Result<Document> document(const SourceFile& file, const Block& block);

 private:
  Result<std::optional<std::string>> load(const std::string& name);
  Result<std::string> jinja(const SourceFile& file, std::string_view text, PlaceMap& places);
  Result<Tree> data(Stage stage, bool replaces, const SourceFile& file, std::string_view text,
                    const PlaceMap& places);
  uint32_t number_of(const std::string& name) const;
  Error placed(const SourceFile& file, Position position, std::string message) const;

  Sources& sources_;
  Texts& texts_;
  const Params& params_;
  jinja::Engine engine_;
  jinja::Value hub_;
  std::map<std::string, uint32_t> templates_;  ///< their numbers in `Texts`
};

}  // namespace fettle::states
