// expect: use a struct with named fields
#include <utility>

#include "tug/core/codec.h"

struct Args {
  std::pair<int, int> range;
};

tug::Json schema() { return tug::schema_of<Args>(); }
