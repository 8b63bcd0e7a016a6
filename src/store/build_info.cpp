#include <openssl/crypto.h>
#include <sqlite3.h>

#include "tug/version.h"

namespace tug {

BuildInfo build_info() {
  return {.compiler = "clang " __clang_version__,
          .sqlite = sqlite3_libversion(),
          .openssl = OpenSSL_version(OPENSSL_VERSION_STRING)};
}

}  // namespace tug
