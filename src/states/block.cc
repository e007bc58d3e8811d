#include "states/block.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace fettle::states {
namespace {

constexpr std::array<std::string_view, 4> stages{"jinja", "yaml", "json", "replacements"};
constexpr std::string_view require_mark = "require:", end_mark = "END";

bool makes_data(Stage stage) { return stage == Stage::yaml || stage == Stage::json; }

Error at_line(Error error, uint32_t line) {
  error.where.line = static_cast<int>(line);
  error.where.column = 1;
  return error;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

/// Assigns each line to its block.
class Splitter {
 public:
  explicit Splitter(std::span<const Stage> pipe) { add_block({pipe.begin(), pipe.end()}, 1); }

  Result<std::vector<Block>> split(std::string_view text) {
    for (size_t at = 0; at < text.size(); ++line_) {
      const size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
      const std::string_view line = text.substr(at, next - at);
      at = next;
      if (line.starts_with("#!") && !line.starts_with("#!/"))
        TRY(directive(trim(line.substr(2))));
      else
        add(line);
    }
    std::vector<Block> made;
    for (size_t i = 0; i < blocks_.size(); ++i)
      if (!is_blank(texts_[i])) {
        blocks_[i].text = std::make_shared<const std::string>(std::move(texts_[i]));
        made.push_back(std::move(blocks_[i]));
      }
    return made;
  }

 private:
  void add_block(std::vector<Stage> pipe, uint32_t line) {
    blocks_.push_back({std::move(pipe), nullptr, line, {}});
    texts_.emplace_back();
  }

  /// Adds a line. Lines keep their numbers in the outermost block: where others have text, it has
  /// empty lines.
  void add(std::string_view line) {
    is_begun_ = false;
    if (open_ == 0) {
      texts_[0].append(gap_, '\n').append(line);
      gap_ = 0;
    } else {
      ++gap_;
      texts_[open_] += line;
    }
  }

  Status directive(std::string_view text) {
    ++gap_;
    if (text == end_mark) {
      if (open_ == 0)
        return at_line(user_error(cat("Unexpected End of file line ", line_)), line_);
      open_ = 0;
      is_begun_ = false;
      return {};
    }
    if (text.starts_with(require_mark)) {
      begin();
      blocks_[open_].awaited.push_back({trim(text.substr(require_mark.size())), line_});
      return {};
    }
    Result<std::vector<Stage>> pipe = parse_pipe(text);
    if (!pipe)
      return at_line(pipe.error(), line_);
    if (open_ == 0 && texts_[0].empty()) {  // of the whole file
      blocks_[0].pipe = std::move(*pipe);
      return {};
    }
    begin();
    blocks_[open_].pipe = std::move(*pipe);
    return {};
  }

  /// Begins a block, unless only other such lines stand between.
  void begin() {
    if (!std::exchange(is_begun_, true)) {
      add_block(blocks_[0].pipe, 0);
      open_ = blocks_.size() - 1;
    }
    blocks_[open_].line = line_ + 1;
  }

  std::vector<Block> blocks_;
  std::vector<std::string> texts_;  ///< one for each block
  size_t open_ = 0;
  size_t gap_ = 0;  ///< lines of other blocks since the last line of the outermost one
  bool is_begun_ = false;
  uint32_t line_ = 1;
};

}  // namespace

std::string_view to_string(Stage stage) { return stages[static_cast<size_t>(stage)]; }

Result<std::vector<Stage>> parse_pipe(std::string_view text) {
  std::vector<Stage> pipe;
  for (const std::string_view piece : split(text, '|')) {
    const std::string_view name = trim(piece);
    const auto found = std::find(stages.begin(), stages.end(), name);
    if (found == stages.end())
      return user_error(cat("'rend' has no attribute '", name, "'", suggestion(name, stages)));
    const auto stage = static_cast<Stage>(found - stages.begin());
    const bool has_data = std::any_of(pipe.begin(), pipe.end(), makes_data);
    if (has_data != (stage == Stage::replacements))
      return user_error(cat("the stage `", name, "` of the pipe `", text, "` needs ",
                            has_data ? "text" : "data", ", but gets ", has_data ? "data" : "text"));
    pipe.push_back(stage);
  }
  if (std::none_of(pipe.begin(), pipe.end(), makes_data))
    return user_error(cat("the pipe `", text, "` ends with text: add the stage `yaml` or `json`"));
  return pipe;
}

Result<std::vector<Block>> blocks_of(SharedText text, std::span<const Stage> pipe) {
  if (text->starts_with("#!") || text->find("\n#!") != text->npos)
    return Splitter(pipe).split(*text);
  std::vector<Block> blocks;
  if (!is_blank(*text))
    blocks.push_back({{pipe.begin(), pipe.end()}, std::move(text), 1, {}});
  return blocks;
}

}  // namespace fettle::states
