#include "model/std/modules.h"

#include <array>

namespace fettle::model {
namespace {

constexpr std::string_view fs_text = R"cf("""
Files, folders and links of a context. An attribute that is not set is not managed.
"""
entity File extends std::PurgeableResource:
    """
    A file. mode is written as for chmod: 644. Blocks come before and after the content, sorted by
    sorting_key, or by value without one.
    """
    string path
    string? content = null
    string content_seperator = "\n"
    int? mode = null
    string? owner = null
    string? group = null
    bool reload = false
end
index File(host, path)
File.host [1] -- std::Host.files [0:]
File.prefix_content [0:] -- Content
File.suffix_content [0:] -- Content

entity Content:
    """
    A block of text in a file.
    """
    string? sorting_key = null
    string value
end
implement Content using std::none

entity ConfigFile extends File:
    """
    A file with the usual permissions of system files.
    """
    int? mode = 644
    string? owner = "root"
    string? group = "root"
end

entity Directory extends std::PurgeableResource:
    """
    A folder. Purging it removes everything in it.
    """
    string path
    int? mode = null
    string? owner = null
    string? group = null
end
index Directory(host, path)
Directory.host [1] -- std::Host.directories [0:]

entity DefaultDirectory extends Directory:
    """
    A folder with the usual permissions of system folders.
    """
    int? mode = 755
    string? owner = "root"
    string? group = "root"
end

entity Symlink extends std::PurgeableResource:
    """
    A link at target that points to source.
    """
    string source
    string target
    bool reload = false
end
index Symlink(host, target)
Symlink.host [1] -- std::Host.symlinks [0:]

implement File using std::none
implement ConfigFile using std::none
implement Directory using std::none
implement DefaultDirectory using std::none
implement Symlink using std::none
)cf";

constexpr std::string_view exec_text = R"cf("""
Commands on a context.
"""
entity Run extends std::PurgeableResource:
    """
    A command. It is split into words as in a shell, but runs without one.
    """
    string command
    string creates = ""
    string cwd = ""
    dict environment = {}
    string onlyif = ""
    string path = ""
    string reload = ""
    bool reload_only = false
    int[] returns = [0]
    int timeout = 300
    string unless = ""
    bool skip_on_fail = false
end
index Run(host, command)
Run.host [1] -- std::Host
implement Run using std::none
)cf";

constexpr std::string_view container_text = R"cf("""
Containers on the engine of a context.
"""
entity Container extends std::PurgeableResource:
    """
    A container that keeps running. Other containers of the environment reach it by its name.
    ports maps names to numbers or strings such as "53/udp"; mounts maps paths in the container to
    paths of the machine; memory is in megabytes and cpu in thousandths of a CPU; 0 means no limit.
    """
    string name
    string image
    string[] entrypoint = []
    string[] command = []
    dict env = {}
    dict labels = {}
    dict ports = {}
    dict public_ports = {}
    dict mounts = {}
    int memory = 0
    int cpu = 0
    string restart = "no"
    string wait = "2m"
end
index Container(name)
Container.host [1] -- std::Host.containers [0:]
implement Container using std::none
)cf";

constexpr std::array<StdSource, 3> module_sources{
    {{"fs", fs_text}, {"exec", exec_text}, {"container", container_text}}};

}  // namespace

std::span<const StdSource> shipped_modules() { return module_sources; }

}  // namespace fettle::model
