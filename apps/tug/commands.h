// One function per command; each answers with the exit code.
#pragma once

#include <string>

#include "command.h"

namespace tug::cli {

int version(const Options& options);
int doctor(const Options& options);

struct SchemaCheck {
  std::string schema;
  std::string data;
  bool all = false;  // data is JSONL: one verdict a line
  bool assert_format = false;
};
int schema_check(const Options& options, const SchemaCheck& request);

}  // namespace tug::cli
