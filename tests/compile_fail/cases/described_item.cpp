// expect: use it there only
#include <vector>

#include "tug/core/codec.h"

struct Args {
  std::vector<tug::Described<int, "an item">> items;
};

tug::Json schema() { return tug::schema_of<Args>(); }
