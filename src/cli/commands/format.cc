/// `fettle format`, and `fettle lint`, its name in Kurtosis.

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/line_diff.h"
#include "cli/print.h"
#include "documents/checks.h"
#include "packages/doc_string.h"
#include "verbs/check/layout.h"

namespace fettle {
namespace {

struct Request {
  bool writes = true;
  bool shows_diff = false;
  bool prints = false;  ///< the texts
};

void print_diff(const FileLayout& layout) {
  print(cat("--- ", layout.path, "\n+++ ", layout.path));
  for (const DiffLine& line : diff_lines(layout.before, layout.after, 3))
    print(line.mark == '@' ? std::string("@@") : cat(line.mark, line.text));
}

std::string summary_of(const LayoutSummary& summary, bool is_written) {
  std::vector<std::string> counts;
  const auto add = [&](size_t count, std::string_view what) {
    if (count > 0)
      counts.push_back(cat(counted(count, "file"), " ", what));
  };
  add(summary.changed, is_written ? "reformatted" : "would be reformatted");
  add(summary.unchanged, is_written ? "left unchanged" : "would be left unchanged");
  add(summary.failed, is_written ? "failed to reformat" : "would fail to reformat");
  return counts.empty() ? "there are no files of Starlark" : join(counts, ", ");
}

FileLayout layout_of(const std::string& file) {
  if (file != "-")
    return layout_of_file(file);
  Result<std::string> text = read_given(file);
  if (text)
    return layout_of_text(shown_file(file), std::move(*text));
  FileLayout failed{file, {}, {}};
  failed.error = std::move(text).error();
  return failed;
}

void print_one(const Face& face, const FileLayout& one, const Request& request, bool is_input) {
  if (one.error) {
    print_error(error_text(*one.error, face.terminal));
    return;
  }
  if (request.shows_diff && one.is_changed())
    print_diff(one);
  else if (request.prints || (is_input && request.writes))
    print_part(one.after);
  else if (one.is_changed() && !face.quiet)
    print(cat(request.writes ? "reformatted " : "would reformat ", one.path));
}

/// 0; 1 if files that are only looked at would change; 2 if one cannot be laid out.
Result<int> lay_out(Face& face, const Request& request) {
  const bool is_written = request.writes && !request.shows_diff && !request.prints;
  LayoutSummary summary;
  for (const std::string& file : TRY(files_to_lay_out(face.parsed.arguments))) {
    FileLayout one = layout_of(file);
    const bool is_input = file == "-";
    if (is_written && !is_input && one.is_changed())
      if (Status written = write_layout(one); !written)
        one.error = std::move(written).error();
    if (!face.json)
      print_one(face, one, request, is_input);
    summary.add(std::move(one));
  }
  const bool tells_texts = request.prints || request.shows_diff ||
                           face.parsed.arguments == std::vector<std::string>{"-"};
  if (face.json)
    print_json(document_of(summary));
  else if (!face.quiet && !tells_texts)
    print(summary_of(summary, is_written));
  if (summary.failed > 0)
    return 2;
  return !request.writes && summary.changed > 0 ? 1 : 0;
}

Result<int> run_format(Face& face) {
  return lay_out(face, {!face.parsed.flag("check"), face.parsed.flag("diff"),
                        face.parsed.text("output") == "-"});
}

Result<int> run_lint(Face& face) {
  if (face.parsed.flag("check-docstring")) {
    const std::string file = TRY(main_file_of(face.parsed.arguments));
    const std::string text = TRY(read_given(file));
    TRY(check_doc_string(file, text));
  }
  const bool writes = face.parsed.flag("format");
  const int code = TRY(lay_out(face, {writes, false, false}));
  if (code == 1 && !face.json)
    print_error("linting failed: there are files that need to be formatted; `--format` does that");
  return code;
}

}  // namespace

Command format_command() {
  Command command = without_state(CommandGroup{around_runs, {}, CommandPlace::here}.make(
      "format", "[FILE|FOLDER…]", 0, 1000,
      "Lays out Starlark files as black does; comments stay, and so does what the files say.\n"
      "Without an argument, these are all `.star` files below this folder; `-` is standard input.",
      {"fettle format", "fettle format --check examples/shop", "fettle format --diff main.star"},
      run_format,
      {{{"--check"}, "", "change nothing; exit code 1 if a file would change"},
       {{"--diff"}, "", "change nothing; print what would change"}}));
  command.outputs = {"-"};
  return command;
}

Command lint_command() {
  return without_state(CommandGroup{words_of_scripts, {}, CommandPlace::here}.make(
      "lint", "[FILE|FOLDER…]", 0, 1000,
      "Does what `format --check` does, by the name that Kurtosis has for it.",
      {"fettle lint", "fettle lint -f examples/shop main.star"}, run_lint,
      {{{"-f", "--format"}, "", "lay files out, as `format` does"},
       {{"-c", "--check-docstring"},
        "",
        "also check the doc string of `run` in `main.star`, as the catalogue of Kurtosis reads "
        "it"}}));
}

}  // namespace fettle
