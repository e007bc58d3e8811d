#pragma once
/// Which files a command line names: those that it reads travel to a server, and those that it
/// writes come back (`remote/parcel.h`).
///
/// Options say it by the names of their values: FILE and DIR. Arguments say it by `name_files` of
/// their command, most often one of the functions here.

#include <optional>

#include "cli/command.h"
#include "remote/request.h"

namespace fettle {

NamedFiles named_files(const Command& command, const CommandLine& parsed);

/// The package that the first argument is: a folder with all that it replaces, a script or a compose
/// file with what they may read.
void name_package(const CommandLine& parsed, NamedFiles& named);
/// The project of a model: that of `--file`, else of this folder.
void name_project(const CommandLine& parsed, NamedFiles& named);
/// Files of states, with what is beside them, and the sources of states and of parameters.
void name_states(const CommandLine& parsed, NamedFiles& named);
/// The sources of states and of parameters, of a command whose arguments are no files.
void name_state_sources(const CommandLine& parsed, NamedFiles& named);
/// The same with a first argument that is a file; none, or `-`, is a stream.
void name_state_call(const CommandLine& parsed, NamedFiles& named);
/// The argument at a place, counted with the one that names the environment; `-` is a stream.
void name_read(const CommandLine& parsed, size_t argument, NamedFiles& named);
void name_written(const CommandLine& parsed, size_t argument, NamedFiles& named);
/// Source and target of a copy, of which one is `SERVICE:PATH`.
void name_copied(const std::string& source, const std::string& target, NamedFiles& named);

/// The file of the first argument, if it is a place (`main.star:12`) in one that is there.
void name_place(const CommandLine& parsed, NamedFiles& named);

/// For a command at a server: words for files become those of `root`, which stands for `/` of the
/// client.
void relocate(CommandLine& parsed, const std::vector<std::string>& paths, const std::string& root);

/// Takes links out of a copy that lead out of it, or would if something were there.
void remove_links_outside(const std::vector<FileEntry>& files, const std::string& root);

/// For a command at a server, in its place: why it is refused (`Blame::user`), since a word of it
/// leads out of the copy of the client's files, as those of no client of ours do. None: all are
/// below `root`, links followed.
std::optional<Error> file_outside(const NamedFiles& named, const std::string& root);

}  // namespace fettle
