// expect: has no addressable items
#include <vector>

#include "tug/core/codec.h"

struct Args {
  std::vector<bool> flags;
};

tug::Json schema() { return tug::schema_of<Args>(); }
