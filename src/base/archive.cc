#include "base/archive.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "base/closed_folder.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr size_t block_size = 512;
constexpr size_t longest_name = 100;
constexpr size_t longest_prefix = 155;
constexpr uint64_t largest_octal = 077'777'777'777;
constexpr uint64_t longest_extra = 1 << 20;  ///< of a long name or a pax header

/// The header of an entry, as POSIX lays it out.
struct Header {
  char name[100], mode[8], uid[8], gid[8], size[12], time[12], checksum[8], type, link[100],
      magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
static_assert(sizeof(Header) == block_size);

template <size_t n>
void put(char (&field)[n], std::string_view text) {
  std::memcpy(field, text.data(), std::min(n, text.size()));
}

template <size_t n>
void put_octal(char (&field)[n], uint64_t number) {
  for (size_t i = n - 1; i-- > 0; number >>= 3)
    field[i] = static_cast<char>('0' + (number & 7));
}

template <size_t n>
std::string get(const char (&field)[n]) {
  return std::string(field, strnlen(field, n));
}

/// Octal digits, or GNU's binary form for what is larger.
template <size_t n>
Result<uint64_t> get_number(const char (&field)[n]) {
  uint64_t number = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (size_t i = n - std::min<size_t>(n, 8); i < n; ++i)
      number = number << 8 | static_cast<unsigned char>(field[i]);
    return number;
  }
  const std::string text = get(field);
  for (const char c : trim(text)) {
    if (c < '0' || c > '7')
      return world_error("the archive is damaged: not a number");
    number = number << 3 | static_cast<uint64_t>(c - '0');
  }
  return number;
}

uint64_t checksum(Header header) {
  std::memset(header.checksum, ' ', sizeof header.checksum);
  uint64_t sum = 0;
  for (const char c : std::string_view(reinterpret_cast<const char*>(&header), block_size))
    sum += static_cast<unsigned char>(c);
  return sum;
}

std::string_view bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), block_size};
}

Header sealed(Header header) {
  put(header.magic, std::string_view("ustar\0", 6));
  put(header.version, "00");
  put_octal(header.major, 0);
  put_octal(header.minor, 0);
  const uint64_t sum = checksum(header);
  std::memset(header.checksum, ' ', sizeof header.checksum);
  char digits[7] = {};
  put_octal(digits, sum);
  std::memcpy(header.checksum, digits, sizeof digits);
  return header;
}

/// Puts a path into name and prefix; false when it does not fit.
bool put_path(Header& header, std::string_view path) {
  if (path.size() <= longest_name) {
    put(header.name, path);
    return true;
  }
  const size_t slash = path.find('/', path.size() - std::min(path.size(), longest_name + 1));
  if (slash == path.npos || slash > longest_prefix || slash + 1 == path.size())
    return false;
  put(header.prefix, path.substr(0, slash));
  put(header.name, path.substr(slash + 1));
  return true;
}

/// `25 path=…\n`, where the number counts itself.
std::string pax_record(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t size = rest + 1;
  while (std::to_string(size).size() + rest != size)
    size = std::to_string(size).size() + rest;
  return cat(size, " ", key, "=", value, "\n");
}

constexpr char type_letter(ArchiveEntry::Type type) {
  switch (type) {
    case ArchiveEntry::Type::file:
      return '0';
    case ArchiveEntry::Type::hardlink:
      return '1';
    case ArchiveEntry::Type::symlink:
      return '2';
    case ArchiveEntry::Type::directory:
      return '5';
  }
  return '0';
}

std::string zeros(uint64_t size) {
  return std::string((block_size - size % block_size) % block_size, '\0');
}

/// A link may climb at its beginning, not above the archive's root, and only descend afterwards:
/// then it stays inside whatever the other links do.
bool stays_inside(const ArchiveEntry& link) {
  if (link.target.starts_with('/') || link.target.find('\0') != std::string::npos)
    return false;
  auto depth = std::ranges::count(link.path, '/');
  bool climbing = true;
  for (const std::string_view part : split(link.target, '/')) {
    if (part.empty() || part == ".")
      continue;
    if (part != "..")
      climbing = false;
    else if (!climbing || depth-- == 0)
      return false;
  }
  return true;
}

}  // namespace

Result<std::string> inner_path(std::string_view path) {
  if (path.starts_with('/'))
    return user_error(cat("the path `", path, "` is absolute"));
  std::string clean;
  for (const std::string_view part : split(path, '/')) {
    if (part == ".." || part.find('\0') != part.npos)
      return user_error(cat("the path `", path, "` leads outside"));
    if (!part.empty() && part != ".")
      clean += (clean.empty() ? "" : "/") + std::string(part);
  }
  return clean;
}

Status ArchiveWriter::pad(uint64_t size) { return sink_(zeros(size)); }

Status ArchiveWriter::add(const ArchiveEntry& entry, const ByteSource& content) {
  const bool is_file = entry.type == ArchiveEntry::Type::file;
  const std::string path =
      entry.type == ArchiveEntry::Type::directory ? entry.path + "/" : entry.path;
  const uint64_t size = is_file ? entry.size : 0;
  Header header{};
  std::string pax;
  if (!put_path(header, path)) {
    pax += pax_record("path", path);
    put(header.name, path);
  }
  if (entry.target.size() > longest_name)
    pax += pax_record("linkpath", entry.target);
  put(header.link, entry.target);
  if (size > largest_octal)
    pax += pax_record("size", std::to_string(size));
  put_octal(header.size, std::min(size, largest_octal));
  put_octal(header.mode, entry.mode & 07777);
  put_octal(header.uid, entry.uid);
  put_octal(header.gid, entry.gid);
  put_octal(header.time, static_cast<uint64_t>(std::max<int64_t>(0, entry.time)));
  header.type = type_letter(entry.type);
  if (!pax.empty()) {
    Header extra{};
    put(extra.name, "pax");
    put_octal(extra.mode, 0644);
    put_octal(extra.uid, 0);
    put_octal(extra.gid, 0);
    put_octal(extra.size, pax.size());
    put_octal(extra.time, 0);
    extra.type = 'x';
    TRY(sink_(bytes_of(sealed(extra))));
    TRY(sink_(pax));
    TRY(pad(pax.size()));
  }
  TRY(sink_(bytes_of(sealed(header))));
  uint64_t given = 0;
  if (size > 0) {
    TRY(pump(content, [&](std::string_view bytes) -> Status {
      given += bytes.size();
      if (given > size)
        return world_error(cat("`", entry.path, "` grew while it was packed"));
      return sink_(bytes);
    }));
  }
  if (given != size)
    return world_error(cat("`", entry.path, "` shrank while it was packed"));
  return pad(size);
}

Status ArchiveWriter::add_file(std::string path, std::string_view bytes, unsigned mode) {
  return add({.path = std::move(path), .mode = mode, .size = bytes.size()},
             source_of(std::string(bytes)));
}

Status ArchiveWriter::finish() { return sink_(std::string(2 * block_size, '\0')); }

namespace {

/// A file that could not be read again is not written.
Status check_size(const std::vector<TreeEntry>& tree, const Path& root) {
  const ArchiveLimits limits;
  uint64_t bytes = 0;
  for (const TreeEntry& entry : tree)
    bytes += std::min(entry.size, limits.bytes);
  if (tree.size() > limits.entries)
    return user_error(cat("`", root.string(), "` holds more than ", limits.entries, " files"));
  if (bytes >= limits.bytes)
    return user_error(cat("`", root.string(), "` holds more than ", limits.bytes >> 30, " GB"));
  return {};
}

}  // namespace

ArchiveEntry archived(const TreeEntry& found) {
  ArchiveEntry entry{.path = found.path, .mode = found.mode & 0777};
  if (found.type == TreeEntry::Type::directory) {
    entry.type = ArchiveEntry::Type::directory;
  } else if (found.type == TreeEntry::Type::symlink) {
    entry.type = ArchiveEntry::Type::symlink;
    entry.mode = 0777;
    entry.target = found.target;
  } else {
    entry.size = found.size;
  }
  return entry;
}

Status pack_tree(const Path& root, const ByteSink& sink, const PackOptions& options) {
  ArchiveWriter writer(sink);
  const ClosedFolder folder(root);
  std::vector<TreeEntry> tree = TRY(list_tree(root));
  if (options.leaves_out)
    std::erase_if(tree, [&](const TreeEntry& entry) {
      return options.leaves_out(entry.path, entry.type == TreeEntry::Type::directory);
    });
  TRY(check_size(tree, root));
  for (const TreeEntry& found : tree) {
    ArchiveEntry entry = archived(found);
    entry.path.insert(0, options.prefix);
    entry.uid = options.uid;
    entry.gid = options.gid;
    ByteSource content;
    if (entry.size > 0)
      content = source_of(TRY(folder.open(found.path)), root / found.path);
    TRY(writer.add(entry, content));
  }
  return writer.finish();
}

Result<std::string> pack_files(const std::map<std::string, std::string>& files) {
  std::string bytes;
  ArchiveWriter writer(sink_to(bytes, SIZE_MAX));
  std::set<std::string> folders;
  for (const auto& [path, content] : files) {
    const std::string inner = TRY(inner_path(path));
    for (size_t end = 0; end < inner.size(); ++end) {
      if (inner[end] != '/' || !folders.insert(inner.substr(0, end)).second)
        continue;
      TRY(writer.add(
          {.path = inner.substr(0, end), .type = ArchiveEntry::Type::directory, .mode = 0755}));
    }
    TRY(writer.add_file(inner, content));
  }
  TRY(writer.finish());
  return bytes;
}

ArchiveReader::ArchiveReader(ByteSource source, ArchiveLimits limits)
    : source_(gunzip_if_compressed(std::move(source))), limits_(limits) {}

/// False when the source ends where a block could begin.
Result<bool> ArchiveReader::read_block(std::span<char> block) {
  size_t size = 0;
  while (size < block.size()) {
    const size_t count = TRY(source_(block.subspan(size)));
    if (count == 0 && size == 0)
      return false;
    if (count == 0)
      return world_error("the archive is truncated");
    size += count;
  }
  return true;
}

Status ArchiveReader::skip_content() {
  std::array<char, 16 * 1024> buffer{};
  while (TRY(read(buffer)) > 0) {
  }
  for (; padding_ > 0; padding_ = 0)
    if (!TRY(read_block(std::span(buffer).first(padding_))))
      return world_error("the archive is truncated");
  return {};
}

/// Whatever follows the end does not matter, but a source that checks itself does so at its end.
Status ArchiveReader::read_to_end() {
  std::array<char, 16 * 1024> buffer{};
  uint64_t rest = 0;
  while (const size_t count = TRY(source_(buffer)))
    if ((rest += count) > limits_.bytes)
      return world_error(cat("the archive has more than ", limits_.bytes, " bytes"));
  return {};
}

Result<size_t> ArchiveReader::read(std::span<char> into) {
  const size_t wanted = std::min<uint64_t>(into.size(), left_);
  if (wanted == 0)
    return size_t{0};
  const size_t count = TRY(source_(into.first(wanted)));
  if (count == 0)
    return world_error("the archive is truncated");
  left_ -= count;
  return count;
}

Result<std::string> ArchiveReader::read_extra(uint64_t size) {
  if (size > longest_extra)
    return world_error("the archive has a header of more than a megabyte");
  std::string text(size + zeros(size).size(), '\0');
  if (!text.empty() && !TRY(read_block(text)))
    return world_error("the archive is truncated");
  text.resize(size);
  return text;
}

namespace {

/// The information in headers before an entry.
struct Extra {
  std::optional<std::string> path, target;
  std::optional<uint64_t> size;
};

Status read_pax(std::string_view text, Extra& extra) {
  while (!text.empty()) {
    size_t space = 0, size = 0;
    for (; space < std::min<size_t>(8, text.size()) && text[space] != ' '; ++space)
      size = size * 10 + static_cast<size_t>(text[space] - '0');
    if (size > text.size() || size < space + 3)
      return world_error("the archive is damaged: invalid pax header");
    const std::string_view record = text.substr(space + 1, size - space - 2);
    const size_t equals = record.find('=');
    if (equals == record.npos)
      return world_error("the archive is damaged: invalid pax header");
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path")
      extra.path = value;
    else if (key == "linkpath")
      extra.target = value;
    else if (key == "size")
      extra.size = std::strtoull(std::string(value).c_str(), nullptr, 10);
    else if (key.starts_with("GNU.sparse"))
      return world_error("the archive has a sparse file");
    text.remove_prefix(size);
  }
  return {};
}

std::string without_zeros(const std::string& text) { return text.c_str(); }

std::string_view special_file(char type) {
  return type == '3' || type == '4' ? "a device" : type == '6' ? "a pipe" : "something special";
}

}  // namespace

Result<std::optional<ArchiveEntry>> ArchiveReader::next() {
  Extra extra;
  while (true) {
    TRY(skip_content());
    Header header{};
    const std::span<char> block(reinterpret_cast<char*>(&header), block_size);
    if (!TRY(read_block(block)) || std::ranges::all_of(block, [](char c) { return c == 0; })) {
      TRY(read_to_end());
      return std::optional<ArchiveEntry>();
    }
    if (++headers_ > limits_.entries)
      return world_error(cat("the archive has more than ", limits_.entries, " entries"));
    if (TRY(get_number(header.checksum)) != checksum(header))
      return world_error("the archive is damaged: a checksum is wrong");
    const uint64_t size = extra.size ? *extra.size : TRY(get_number(header.size));
    switch (header.type) {
      case 'x': {
        const std::string records = TRY(read_extra(size));
        TRY(read_pax(records, extra));
        continue;
      }
      case 'g':
        TRY(read_extra(size));
        continue;
      case 'L':
        extra.path = without_zeros(TRY(read_extra(size)));
        continue;
      case 'K':
        extra.target = without_zeros(TRY(read_extra(size)));
        continue;
      default:
        break;
    }
    ArchiveEntry entry;
    const bool ustar = std::memcmp(header.magic, "ustar", 6) == 0;
    entry.path = extra.path                          ? *extra.path
                 : ustar && header.prefix[0] != '\0' ? get(header.prefix) + "/" + get(header.name)
                                                     : get(header.name);
    entry.target = extra.target ? *extra.target : get(header.link);
    entry.mode = static_cast<unsigned>(TRY(get_number(header.mode)) & 07777);
    entry.uid = static_cast<unsigned>(TRY(get_number(header.uid)));
    entry.gid = static_cast<unsigned>(TRY(get_number(header.gid)));
    entry.time = static_cast<int64_t>(TRY(get_number(header.time)));
    switch (header.type) {
      case '0':
      case '7':
      case '\0':
        entry.type =
            entry.path.ends_with('/') ? ArchiveEntry::Type::directory : ArchiveEntry::Type::file;
        break;
      case '1':
        entry.type = ArchiveEntry::Type::hardlink;
        break;
      case '2':
        entry.type = ArchiveEntry::Type::symlink;
        break;
      case '5':
        entry.type = ArchiveEntry::Type::directory;
        break;
      default:
        return world_error(cat("`", entry.path, "` in the archive is ", special_file(header.type),
                               ", neither file, folder nor link"));
    }
    const bool is_file = entry.type == ArchiveEntry::Type::file;
    entry.size = is_file ? size : 0;
    left_ = entry.size;
    padding_ = zeros(left_).size();
    extra = {};
    TRY(check(entry));
    if (!entry.path.empty())
      return std::optional(std::move(entry));
  }
}

Status ArchiveReader::check(ArchiveEntry& entry) {
  if (entry.size > limits_.bytes - std::min(limits_.bytes, bytes_))
    return world_error(cat("the archive holds more than ", limits_.bytes, " bytes"));
  bytes_ += entry.size;
  entry.path = TRY(inner_path(entry.path));
  if (entry.type == ArchiveEntry::Type::hardlink)
    entry.target = TRY(inner_path(entry.target));
  if (entry.type == ArchiveEntry::Type::symlink && !limits_.links_may_leave && !stays_inside(entry))
    return user_error(cat("the link `", entry.path, "` leads outside, to `", entry.target, "`"));
  if (entry.type != ArchiveEntry::Type::symlink && entry.type != ArchiveEntry::Type::hardlink)
    entry.target.clear();
  return {};
}

bool begins_archive(ByteSource source) {
  ArchiveReader reader(gunzip_if_compressed(std::move(source)), {.links_may_leave = true});
  const auto first = reader.next();
  return first && first->has_value();
}

Result<size_t> repack(const ByteSource& source, const ByteSink& sink,
                      const RepackOptions& options) {
  ArchiveReader reader(source, {.links_may_leave = true});
  ArchiveWriter writer(sink);
  const auto stripped = [&](std::string path) {
    for (size_t i = 0; i < options.strip; ++i)
      path.erase(0, std::min(path.find('/'), path.size() - 1) + 1);
    return path;
  };
  size_t count = 0;
  while (true) {
    std::optional<ArchiveEntry> entry = TRY(reader.next());
    if (!entry)
      break;
    entry->path = stripped(entry->path);
    if (entry->path.empty() || (options.take && !options.take(entry->path)))
      continue;
    entry->path = options.pack.prefix + entry->path;
    if (entry->type == ArchiveEntry::Type::hardlink)
      entry->target = options.pack.prefix + stripped(entry->target);
    entry->time = archive_time;
    entry->uid = options.pack.uid;
    entry->gid = options.pack.gid;
    TRY(writer.add(*entry, [&](std::span<char> into) { return reader.read(into); }));
    ++count;
  }
  TRY(writer.finish());
  return count;
}

}  // namespace fettle
