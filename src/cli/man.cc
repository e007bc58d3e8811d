#include "cli/man.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

/// The text of a page: no word of ours is a request, and dashes stay dashes.
std::string roff(std::string_view text) {
  std::string escaped;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\''))
      escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else if (c != '`')
      escaped += c;
    begins = c == '\n';
  }
  return escaped;
}

std::string head(std::string_view name, std::string_view version) {
  return cat(".TH \"", roff(upper_case(std::string(name))), "\" 1 \"\" \"fettle ", roff(version),
             "\" \"fettle\"\n");
}

std::string options_text(const std::vector<CommandOption>& options) {
  std::string text;
  for (const CommandOption& option : options) {
    text += ".TP\n";
    for (size_t i = 0; i < option.names.size(); ++i)
      text += cat(i == 0 ? "" : ", ", "\\fB", roff(option.names[i]), "\\fR");
    if (!option.value.empty())
      text += cat(" \\fI", roff(option.value), "\\fR");
    text += cat("\n", roff(option.help), "\n");
  }
  return text;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

constexpr std::string_view codes = R"(.SH EXIT STATUS
.TP
0
done, and everything is as wanted
.TP
1
something in the world failed
.TP
2
the input is wrong; nothing was changed
.TP
3
nothing failed, and something is still pending
.TP
4
changes are due, with \fB\-\-detailed\-exitcode\fR
.TP
130
interrupted
.TP
141
the reader of standard output went away
.SH ENVIRONMENT
.TP
\fBFETTLE_HOME\fR
the folder of state; else $XDG_STATE_HOME/fettle, else ~/.local/state/fettle
.TP
\fBDOCKER_HOST\fR
the container engine, when \fB\-\-engine\fR does not name one
.TP
\fBFETTLE_PACKAGE_MIRROR\fR
where packages are looked up before they are fetched
.TP
\fBNO_COLOR\fR
no colours
)";

}  // namespace

std::string man_name(const Command& command) {
  return cat("fettle-", replace_all(command.words, " ", "-"));
}

std::string man_page(const Command& command, std::string_view version) {
  const std::string name = man_name(command);
  std::string text =
      cat(head(name, version), ".SH NAME\n", roff(name), " \\- ", roff(first_line(command.summary)),
          "\n.SH SYNOPSIS\n\\fBfettle ", roff(command.words), "\\fR");
  if (!command.arguments.empty())
    text += cat(" \\fI", roff(command.arguments), "\\fR");
  text += cat(" [flags]\n.SH DESCRIPTION\n", roff(command.summary), "\n.SH EXAMPLES\n.nf\n");
  for (const std::string& example : command.examples)
    text += cat(roff(example), "\n");
  text += ".fi\n";
  if (!command.options.empty())
    text += cat(".SH OPTIONS\n", options_text(command.options));
  return cat(text, ".SH OPTIONS OF EVERY COMMAND\n", options_text(common_options()),
             ".SH SEE ALSO\n\\fBfettle\\fR(1)\n");
}

std::string man_page(const std::vector<Command>& commands, std::string_view version) {
  std::string text = cat(head("fettle", version),
                         ".SH NAME\nfettle \\- keeps environments in the state that you "
                         "describe, and redoes only what changed\n.SH SYNOPSIS\n\\fBfettle\\fR "
                         "\\fICOMMAND\\fR [flags] [arguments]\n");
  std::vector<std::string> groups;
  for (const Command& command : commands)
    if (std::ranges::find(groups, command.group) == groups.end())
      groups.push_back(command.group);
  text += ".SH COMMANDS\n";
  for (const std::string& group : groups) {
    text += cat(".SS ", roff(group), "\n");
    for (const Command& command : commands)
      if (command.group == group)
        text += cat(".TP\n\\fB", roff(man_name(command)), "\\fR(1)\n",
                    roff(first_line(command.summary)), "\n");
  }
  return cat(text, ".SH OPTIONS OF EVERY COMMAND\n", options_text(common_options()), codes);
}

}  // namespace fettle
