#include "app/libraries.h"

#include <gmp.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <utf8proc.h>
#include <yaml.h>
#include <zlib.h>

#include "app/commit.h"
#include "base/text.h"

namespace fettle {

std::string built_from() { return FETTLE_COMMIT; }

Value library_versions() {
  return Value::dict({{"gmp", gmp_version},
                      {"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)},
                      {"sqlite", sqlite3_libversion()},
                      {"utf8proc", utf8proc_version()},
                      {"yaml", yaml_get_version_string()},
                      {"zlib", zlibVersion()}});
}

}  // namespace fettle
