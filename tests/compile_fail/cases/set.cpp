// expect: use std::vector, std::array or std::map
#include <set>
#include <string>

#include "tug/core/codec.h"

struct Args {
  std::set<std::string> names;
};

tug::Json schema() { return tug::schema_of<Args>(); }
