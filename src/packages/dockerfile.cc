#include "packages/dockerfile.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "kinds/build.h"

namespace fettle {
namespace {

constexpr size_t longest_value = 64 << 10;  ///< of an argument: each may double the one before
constexpr size_t longest_values = 1 << 20;  ///< of all together
constexpr int deepest_default = 16;         ///< of defaults within defaults

struct FileInstruction {
  std::string name;  ///< in capital letters
  std::string rest;
  int line = 0, last_line = 0;  ///< of the instruction without its here-documents
  bool has_heredoc = false;
};

/// An instruction that is sent in other words.
struct LineEdit {
  int first = 0, last = 0;
  std::string text;
};

struct ParserDirectives {
  char escape = '\\';
  std::string front_end;
  int front_end_line = 0;
  size_t lines = 0;  ///< how many there are
};

/// `# name=value`. Names that nobody knows are directives, too: they do not end the list.
std::optional<std::pair<std::string, std::string>> directive_in(std::string_view line) {
  line = trim(line);
  const size_t equals = line.find('=');
  if (!line.starts_with('#') || equals == line.npos)
    return std::nullopt;
  const std::string name = lower_case(trim(line.substr(1, equals - 1)));
  const std::string_view value = trim(line.substr(equals + 1));
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || !is_letter(name[0]) || value.empty() ||
      !std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c); }))
    return std::nullopt;
  return std::pair(name, std::string(value));
}

/// Builders differ in which of two `syntax` counts, so there is one of each.
Result<ParserDirectives> read_directives(const std::vector<std::string_view>& lines,
                                         const std::string& file) {
  ParserDirectives found;
  std::set<std::string> names;
  // Builders pass over the line of a program that runs the file.
  if (lines[0].starts_with("#!"))
    found.lines = 1;
  for (; found.lines < lines.size(); ++found.lines) {
    const auto directive = directive_in(lines[found.lines]);
    if (!directive)
      break;
    const int line = static_cast<int>(found.lines) + 1;
    const std::string& name = directive->first;
    if ((name == "syntax" || name == "escape") && !names.insert(name).second)
      return user_error(cat("the directive `", name, "` stands there twice; keep one"),
                        {file, line, 1});
    if (name == "escape") {
      if (directive->second != "\\" && directive->second != "`")
        return user_error("`escape` must be a backslash or a backquote", {file, line, 1});
      found.escape = directive->second[0];
    } else if (name == "syntax") {
      found.front_end = directive->second;
      found.front_end_line = line;
    }
  }
  return found;
}

/// Docker's own front end is what engines have built in.
Status check_front_end(const ParserDirectives& directives, const std::string& file) {
  std::string_view name = directives.front_end;
  if (name.starts_with("docker.io/"))
    name.remove_prefix(10);
  const std::string_view version = name.substr(std::min(name.find(':'), name.size()));
  if (name.empty() || (name.substr(0, name.find_first_of(":@")) == "docker/dockerfile" &&
                       version.find("labs") == version.npos))
    return {};
  return user_error(cat("the front end `", printable(directives.front_end),
                        "` is not supported: images are built with the engine's own; remove the "
                        "line, or build the image beforehand and name it in `image`"),
                    {file, directives.front_end_line, 1});
}

/// The words of an instruction, quotes kept as they are.
std::vector<std::string> words_of(std::string_view text, char escape) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      if (!word.empty())
        words.push_back(std::exchange(word, {}));
      continue;
    }
    if (quote != 0 ? c == quote : c == '"' || c == '\'')
      quote = quote == 0 ? c : 0;
    word += c;
    if (c == escape && quote != '\'' && i + 1 < text.size())
      word += text[++i];
  }
  if (!word.empty())
    words.push_back(std::move(word));
  return words;
}

/// The flags before anything else, as in `COPY --from=b --chmod=1 /x /x`.
std::vector<std::string> flags_of(std::string_view text, char escape) {
  std::vector<std::string> words = words_of(text, escape);
  words.erase(
      std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with("--"); }),
      words.end());
  return words;
}

struct HereDocument {
  std::string end;
  bool strips_tabs = false;
};

/// `<<EOF`, `3<<-"EOF"`; none: the word is no here-document.
std::optional<HereDocument> here_document(std::string_view word) {
  while (!word.empty() && word[0] >= '0' && word[0] <= '9')
    word.remove_prefix(1);
  if (!word.starts_with("<<"))
    return std::nullopt;
  word.remove_prefix(2);
  HereDocument found;
  found.strips_tabs = word.starts_with('-');
  if (found.strips_tabs)
    word.remove_prefix(1);
  if (word.size() > 2 && (word[0] == '"' || word[0] == '\'') && word.back() == word[0])
    word = word.substr(1, word.size() - 2);
  if (word.empty() || word.find_first_of("<\"'") != word.npos)
    return std::nullopt;
  found.end = word;
  return found;
}

/// Takes the text apart. A line that ends with the escape letter goes on; comments and empty lines
/// within are left out.
class FileLines {
 public:
  FileLines(std::vector<std::string_view> lines, const ParserDirectives& directives,
            std::string file)
      : lines_(std::move(lines)),
        file_(std::move(file)),
        escape_(directives.escape),
        at_(directives.lines) {}

  Result<std::vector<FileInstruction>> read() {
    std::vector<FileInstruction> found;
    while (at_ < lines_.size()) {
      const std::string text = logical_line();
      if (text.empty())
        continue;
      const size_t end = std::min(text.find_first_of(" \t"), text.size());
      FileInstruction instruction{upper_case(text.substr(0, end)),
                                  std::string(trim(std::string_view(text).substr(end))), begin_,
                                  static_cast<int>(at_), false};
      instruction.has_heredoc = TRY(skip_documents(instruction));
      found.push_back(std::move(instruction));
    }
    return found;
  }

 private:
  std::string logical_line() {
    std::string text;
    while (at_ < lines_.size()) {
      std::string_view line = lines_[at_++];
      if (line.ends_with('\r'))
        line.remove_suffix(1);
      if (trim(line).starts_with('#'))
        continue;
      if (trim(line).empty()) {
        if (text.empty())
          break;
        continue;
      }
      if (text.empty())
        begin_ = static_cast<int>(at_);
      const size_t last = line.find_last_not_of(" \t");
      const bool goes_on = line[last] == escape_ && (last == 0 || line[last - 1] != escape_);
      text += goes_on ? line.substr(0, last) : line;
      if (!goes_on)
        break;
    }
    return std::string(trim(text));
  }

  /// Whether there are any.
  Result<bool> skip_documents(const FileInstruction& instruction) {
    std::string_view name = instruction.name;
    std::vector<std::string> words = words_of(instruction.rest, escape_);
    const std::string inner = words.empty() ? std::string() : upper_case(words[0]);
    if (name == "ONBUILD")
      name = inner;
    if (name != "RUN" && name != "COPY" && name != "ADD")
      return false;
    bool found = false;
    for (const std::string& word : words) {
      const auto document = here_document(word);
      if (!document)
        continue;
      found = true;
      if (!skip_to(*document))
        return user_error(cat("the here-document `", printable(document->end), "` has no end"),
                          {file_, instruction.line, 1});
    }
    return found;
  }

  bool skip_to(const HereDocument& document) {
    while (at_ < lines_.size()) {
      std::string_view line = lines_[at_++];
      if (line.ends_with('\r'))
        line.remove_suffix(1);
      while (document.strips_tabs && line.starts_with('\t'))
        line.remove_prefix(1);
      if (line == document.end)
        return true;
    }
    return false;
  }

  std::vector<std::string_view> lines_;
  std::string file_;
  char escape_;
  size_t at_;
  int begin_ = 0;  ///< the line in which the last instruction begins
};

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// `$A`, `${A}`, `${A:-word}`, `${A:+word}`, and quotes, as in a FROM.
class ArgumentExpansion {
 public:
  ArgumentExpansion(const std::map<std::string, std::string>& values, char escape)
      : values_(values), escape_(escape) {}

  std::string of(std::string_view text, int depth = 0) const {
    std::string made;
    char quote = 0;
    for (size_t i = 0; depth < deepest_default && i < text.size() && made.size() < longest_value;
         ++i) {
      const char c = text[i];
      if (quote != 0 ? c == quote : c == '"' || c == '\'')
        quote = quote == 0 ? c : 0;
      else if (c == escape_ && quote != '\'' && i + 1 < text.size())
        made += text[++i];
      else if (c == '$' && quote != '\'')
        made += variable(text, i, depth);
      else
        made += c;
    }
    return made.substr(0, longest_value);
  }

 private:
  /// `i` stands on the `$`, and afterwards on the last letter.
  std::string variable(std::string_view text, size_t& i, int depth) const {
    const bool braced = text.substr(i + 1).starts_with('{');
    const size_t begin = i + 1 + (braced ? 1 : 0);
    size_t end = begin;
    while (end < text.size() && is_name_letter(text[end]))
      ++end;
    const auto found = values_.find(std::string(text.substr(begin, end - begin)));
    const std::string value = found == values_.end() ? std::string() : found->second;
    if (!braced) {
      i = end - 1;
      return end == begin ? "$" : value;
    }
    int open = 1;
    size_t close = end;
    for (; close < text.size(); ++close) {
      open += text[close] == '{' ? 1 : text[close] == '}' ? -1 : 0;
      if (open == 0)
        break;
    }
    i = close;
    std::string_view other = text.substr(end, close - end);
    const bool when_empty = other.starts_with(':');
    if (when_empty)
      other.remove_prefix(1);
    const bool is_set = found != values_.end() && !(when_empty && value.empty());
    if (other.starts_with('-'))
      return is_set ? value : of(other.substr(1), depth + 1);
    if (other.starts_with('+'))
      return is_set ? of(other.substr(1), depth + 1) : std::string();
    return value;
  }

  const std::map<std::string, std::string>& values_;
  char escape_;
};

/// What a stage is made from, and what it wants of a builder.
struct BuildStage {
  int line = 0;      ///< of its FROM
  std::string name;  ///< as it is written; empty: it has none
  std::vector<size_t> stages{};
  std::vector<BaseImage> images{};
  std::vector<SecretMount> secrets{};
  int heredoc_line = 0, ssh_line = 0;  ///< the first ones; 0: there are none
  bool is_replaced = false;            ///< by a named context
};

/// The options of a `--mount`.
struct MountOptions {
  std::string type{}, id{}, source{}, target{};
  bool is_required = false;
};

MountOptions mount_options(std::string_view text) {
  MountOptions read;
  for (const std::string_view option : split(text, ',')) {
    const size_t equals = std::min(option.find('='), option.size());
    const std::string_view key = option.substr(0, equals);
    const std::string value(option.substr(std::min(equals + 1, option.size())));
    if (key == "type")
      read.type = value;
    else if (key == "id")
      read.id = value;
    else if (key == "source" || key == "src")
      read.source = value;
    else if (key == "target" || key == "dst" || key == "destination")
      read.target = value;
    else if (key == "required")
      read.is_required = value.empty() || lower_case(value) == "true" || value == "1";
  }
  return read;
}

class BuildStages {
 public:
  BuildStages(std::string file, const DockerfileRequest& request, char escape)
      : file_(std::move(file)),
        arguments_(request.arguments),
        contexts_(request.contexts),
        escape_(escape) {}

  Status take(const FileInstruction& instruction) {
    if (instruction.name == "FROM")
      return from(instruction);
    if (stages_.empty()) {
      if (instruction.name != "ARG")
        return user_error(cat("`", printable(clipped(instruction.name, 40)),
                              "` stands before the first FROM; only ARG may"),
                          {file_, instruction.line, 1});
      return arguments(instruction);
    }
    if (stages_.back().is_replaced)
      return {};
    if (instruction.has_heredoc && stages_.back().heredoc_line == 0)
      stages_.back().heredoc_line = instruction.line;
    if (instruction.name == "COPY" || instruction.name == "RUN")
      flags(instruction);
    return {};
  }

  /// For each stage, whether the wanted one needs it.
  Result<std::vector<bool>> needed(std::string_view target) const {
    if (stages_.empty())
      return user_error("there is no FROM", {file_, 1, 1});
    std::vector<bool> needed(stages_.size());
    needed[TRY(wanted(target))] = true;
    for (size_t i = stages_.size(); i-- > 0;)
      if (needed[i])
        for (const size_t other : stages_[i].stages)
          needed[other] = true;
    return needed;
  }

  std::vector<BaseImage> bases(const std::vector<bool>& needed) const {
    std::set<std::pair<int, std::string>> found;
    for (size_t i = 0; i < stages_.size(); ++i)
      if (needed[i])
        for (const BaseImage& image : stages_[i].images)
          found.emplace(image.line, image.reference);
    std::vector<BaseImage> bases;
    std::set<std::string_view> seen;
    for (const auto& [line, reference] : found)
      if (seen.insert(reference).second)
        bases.push_back({reference, line});
    return bases;
  }

  std::vector<SecretMount> secrets(const std::vector<bool>& needed) const {
    std::map<std::string, SecretMount> found;
    for (size_t i = 0; i < stages_.size(); ++i)
      if (needed[i])
        for (const SecretMount& secret : stages_[i].secrets) {
          SecretMount& kept = found.emplace(secret.id, secret).first->second;
          kept.is_required = kept.is_required || secret.is_required;
        }
    std::vector<SecretMount> secrets;
    for (auto& [id, secret] : found)
      secrets.push_back(std::move(secret));
    return secrets;
  }

  const std::vector<BuildStage>& stages() const { return stages_; }
  const std::vector<LineEdit>& edits() const { return edits_; }

 private:
  Status arguments(const FileInstruction& instruction) {
    for (const std::string& word : words_of(instruction.rest, escape_)) {
      const size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      std::string value;
      if (const auto given = arguments_.find(name); given != arguments_.end())
        value = given->second;
      else if (equals != word.npos)
        value = ArgumentExpansion(values_, escape_).of(std::string_view(word).substr(equals + 1));
      else
        continue;
      length_ += value.size();
      if (length_ > longest_values)
        return user_error("the arguments before the first FROM are longer than 1 MB",
                          {file_, instruction.line, 1});
      values_[name] = std::move(value);
    }
    return {};
  }

  Status from(const FileInstruction& instruction) {
    std::vector<std::string> words = words_of(instruction.rest, escape_);
    std::erase_if(words, [](const std::string& word) { return word.starts_with("--"); });
    const bool is_named = words.size() == 3 && lower_case(words[1]) == "as";
    if (words.size() != 1 && !is_named)
      return user_error("FROM needs an image, and no more than `AS NAME` after it",
                        {file_, instruction.line, 1});
    const std::string reference = ArgumentExpansion(values_, escape_).of(words[0]);
    if (trim(reference).empty())
      return user_error(cat("`", printable(clipped(words[0], 80)),
                            "` names no image: give its argument in `build_args`, or a default "
                            "in an ARG before the first FROM"),
                        {file_, instruction.line, 1});
    const std::optional<size_t> earlier = index_of(reference);
    const std::string* context = is_named ? context_of(lower_case(words[2])) : nullptr;
    stages_.push_back({.line = instruction.line,
                       .name = is_named ? words[2] : std::string(),
                       .is_replaced = context != nullptr});
    if (context == nullptr && !earlier && reference != "scratch")
      context = context_of(reference);
    if (context != nullptr) {
      std::vector<std::string> made = flags_of(instruction.rest, escape_);
      made.push_back(*context);
      if (is_named)
        made.push_back(cat("AS ", words[2]));
      edits_.push_back({instruction.line, instruction.last_line, cat("FROM ", join(made, " "))});
      stages_.back().images.push_back({*context, instruction.line});
    } else {
      use(earlier, reference, instruction.line);
    }
    if (is_named)
      by_name_[lower_case(words[2])] = stages_.size() - 1;
    return {};
  }

  /// The flags of a COPY or RUN, in which named contexts become images.
  void flags(const FileInstruction& instruction) {
    const std::string_view wanted = instruction.name == "COPY" ? "--from=" : "--mount=";
    std::string rest = instruction.rest;
    size_t at = 0;
    for (const std::string& flag : flags_of(instruction.rest, escape_)) {
      if (!flag.starts_with(wanted))
        continue;
      const std::string value = flag.substr(wanted.size());
      const std::string made =
          cat(wanted, instruction.name == "COPY" ? source_of_files(value, instruction.line)
                                                 : mount(value, instruction.line));
      at = rest.find(flag, at);
      rest.replace(at, flag.size(), made);
      at += made.size();
    }
    if (rest != instruction.rest)
      edits_.push_back({instruction.line, instruction.last_line, cat(instruction.name, " ", rest)});
  }

  /// The value of a `--mount`.
  std::string mount(const std::string& text, int line) {
    std::vector<std::string> made;
    for (const std::string_view option : split(text, ','))
      made.push_back(option.starts_with("from=")
                         ? cat("from=", source_of_files(std::string(option.substr(5)), line))
                         : std::string(option));
    const MountOptions options = mount_options(text);
    BuildStage& stage = stages_.back();
    if (options.type == "ssh" && stage.ssh_line == 0)
      stage.ssh_line = line;
    if (options.type == "secret") {
      std::string id = options.source.empty() ? options.id : options.source;
      if (id.empty())
        id = options.target.substr(options.target.rfind('/') + 1);
      stage.secrets.push_back({id, line, options.is_required});
    }
    return join(made, ",");
  }

  /// The current stage takes files of one so far, or of an image: what that is called when it is
  /// sent.
  std::string source_of_files(const std::string& what, int line) {
    const std::optional<size_t> stage = index_of(what);
    const std::string* const context = stage ? nullptr : context_of(what);
    const std::string& sent = context == nullptr ? what : *context;
    use(stage, sent, line);
    return sent;
  }

  /// The image of a named context; null: there is none of this name.
  const std::string* context_of(std::string_view name) const {
    if (contexts_.empty())
      return nullptr;
    const auto found = contexts_.find(name_of_build(name));
    return found == contexts_.end() ? nullptr : &found->second;
  }

  void use(const std::optional<size_t>& stage, const std::string& what, int line) {
    if (stage)
      stages_.back().stages.push_back(*stage);
    else if (what != "scratch")
      stages_.back().images.push_back({what, line});
  }

  /// Of a stage so far, by its name or its number.
  std::optional<size_t> index_of(std::string_view name) const {
    if (const auto found = by_name_.find(lower_case(name)); found != by_name_.end())
      return found->second;
    if (!name.empty() && name.size() < 6 &&
        std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
      if (const size_t index = std::stoul(std::string(name)); index < stages_.size())
        return index;
    return std::nullopt;
  }

  Result<size_t> wanted(std::string_view target) const {
    if (target.empty())
      return stages_.size() - 1;
    if (const auto found = index_of(target))
      return *found;
    std::vector<std::string> names;
    for (const auto& [name, stage] : by_name_)
      names.push_back(name);
    return user_error(cat("there is no stage `", printable(target), "`", suggestion(target, names)),
                      {file_, 0, 0});
  }

  std::string file_;
  const std::map<std::string, std::string>&arguments_, &contexts_;
  char escape_;
  std::map<std::string, std::string> values_;
  size_t length_ = 0;  ///< of all values so far
  std::vector<BuildStage> stages_;
  std::vector<LineEdit> edits_;
  std::map<std::string, size_t> by_name_;  ///< in small letters; the last one of a name counts
};

Error no_keys(const std::string& file, int line) {
  return user_error(
      "a build is given no keys of ssh: fetch what needs one into the context beforehand, or build "
      "the image beforehand (`docker build --ssh …`) and name it in `image`",
      {file, line, 1});
}

/// The other directives move before the one that is put out of force: after a comment, none counts.
std::string without_front_end(std::string_view text, const ParserDirectives& directives) {
  if (directives.front_end_line == 0)
    return std::string(text);
  std::vector<std::string> lines;
  std::string left_out;
  for (const std::string_view line : split(text, '\n')) {
    const size_t number = lines.size() + (left_out.empty() ? 0 : 1) + 1;
    if (number == static_cast<size_t>(directives.front_end_line))
      left_out = cat("# (built in) ", trim(line.substr(line.find('#') + 1)));
    else
      lines.emplace_back(line);
  }
  lines.insert(lines.begin() + static_cast<long>(directives.lines) - 1, left_out);
  return join(lines, "\n");
}

/// Builders read the whole file, also stages that nobody wants: an old one fails at a here-document
/// there. So stages with one that are not needed become empty ones of the same name and number, as
/// do those for which a named context stands, and all lines stay where they are.
std::string sent_lines(const std::vector<std::string_view>& lines, const BuildStages& read,
                       const std::vector<bool>& needed) {
  std::vector<std::string> kept(lines.begin(), lines.end());
  // A here-document begins below the last line of its instruction.
  for (const LineEdit& edit : read.edits()) {
    std::fill(kept.begin() + edit.first - 1, kept.begin() + edit.last - 1, "");
    kept[static_cast<size_t>(edit.last) - 1] = edit.text;
  }
  const std::vector<BuildStage>& stages = read.stages();
  for (size_t i = 0; i < stages.size(); ++i) {
    const bool is_empty = !needed[i] && stages[i].heredoc_line > 0;
    if (!is_empty && !stages[i].is_replaced)
      continue;
    const auto begin = kept.begin() + stages[i].line - 1;
    const auto end = i + 1 < stages.size() ? kept.begin() + stages[i + 1].line - 1 : kept.end();
    std::string from = cat("FROM ", is_empty ? "scratch" : stages[i].images.front().reference,
                           stages[i].name.empty() ? "" : " AS ", stages[i].name);
    if (!is_empty)
      for (const LineEdit& edit : read.edits())
        if (edit.first == stages[i].line)
          from = edit.text;
    std::fill(begin, end, "");
    *begin = std::move(from);
  }
  return join(kept, "\n");
}

}  // namespace

Result<Dockerfile> read_dockerfile(std::string_view text, const std::string& file,
                                   const DockerfileRequest& request) {
  if (text.starts_with("\xef\xbb\xbf"))
    text.remove_prefix(3);
  const std::vector<std::string_view> lines = split(text, '\n');
  const ParserDirectives directives = TRY(read_directives(lines, file));
  TRY(check_front_end(directives, file));
  FileLines reader(lines, directives, file);
  BuildStages stages(file, request, directives.escape);
  for (const FileInstruction& instruction : TRY(reader.read()))
    TRY(stages.take(instruction));
  const std::vector<bool> needed = TRY(stages.needed(request.target));
  Dockerfile read;
  read.bases = stages.bases(needed);
  read.secrets = stages.secrets(needed);
  for (size_t i = 0; i < needed.size(); ++i) {
    const BuildStage& stage = stages.stages()[i];
    if (needed[i] && stage.ssh_line > 0)
      return no_keys(file, stage.ssh_line);
    if (needed[i] && read.heredoc_line == 0)
      read.heredoc_line = stage.heredoc_line;
  }
  read.sent = without_front_end(sent_lines(lines, stages, needed), directives);
  return read;
}

}  // namespace fettle
