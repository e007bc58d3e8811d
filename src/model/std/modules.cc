#include "model/std/modules.h"

#include <array>

namespace fettle::model {
namespace {

constexpr std::string_view fs_text = R"cf("""
Files, folders and links of a machine. What an attribute does not say does not matter.
"""
entity File extends std::PurgeableResource:
    """
    A file. mode is written as chmod takes it: 644. Blocks stand before and after the content, each
    sorted by sorting_key, else by value.
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
    A block of a file.
    """
    string? sorting_key = null
    string value
end
implement Content using std::none

entity ConfigFile extends File:
    """
    A file with the rights that files of a system usually have.
    """
    int? mode = 644
    string? owner = "root"
    string? group = "root"
end

entity Directory extends std::PurgeableResource:
    """
    A folder. A purged one goes with everything in it.
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
    A folder with the rights that folders of a system usually have.
    """
    int? mode = 755
    string? owner = "root"
    string? group = "root"
end

entity Symlink extends std::PurgeableResource:
    """
    A link at target that leads to source.
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
Commands on a machine.
"""
entity Run extends std::PurgeableResource:
    """
    A command. It is split into words as a shell does, and run without one.
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
Containers on the engine of a machine.
"""
entity Container extends std::PurgeableResource:
    """
    A container that keeps running. Others of the environment find it by its name.
    ports maps names to numbers or texts such as "53/udp"; mounts maps paths inside to paths of the
    machine; memory is in megabytes and cpu in thousandths of one; 0 means without a limit.
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

constexpr std::array<StdSource, 3> sources{
    {{"fs", fs_text}, {"exec", exec_text}, {"container", container_text}}};

}  // namespace

std::span<const StdSource> shipped_modules() { return sources; }

}  // namespace fettle::model
