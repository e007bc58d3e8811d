// Makes a C++ source of the built page: `node embed.mjs DIST OUTPUT.cc`. Each file is compressed once, here.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const [dist, output] = process.argv.slice(2);

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const files = filesBelow(dist).sort();
let bytes = '', rows = '', sum = 0;
files.forEach((file, i) => {
  const packed = gzipSync(readFileSync(file), { level: 9 });
  const name = '/' + relative(dist, file).replaceAll('\\', '/');
  const type = types[extname(file)];
  if (type === undefined) throw new Error(`${name}: no type is known of such files`);
  sum += packed.length;
  bytes += `constexpr unsigned char file${i}[] = {${[...packed].join(',')}};\n`;
  rows += `      {"${name === '/index.html' ? '/' : name}", "${type}", text_of(file${i})},\n`;
});
writeFileSync(output, `#include "server/page_files.h"

namespace fettle {
namespace {

${bytes}
template <size_t size>
std::string_view text_of(const unsigned char (&bytes)[size]) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

std::span<const PageFile> page_files() {
  static const PageFile files[] = {
${rows}  };
  return files;
}

}  // namespace fettle
`);
console.log(`page: ${files.length} files, ${sum} bytes compressed`);
