// expect: the keys of a map must be std::string or an enum
#include <map>

#include "tug/core/codec.h"

struct Args {
  std::map<int, int> table;
};

tug::Json schema() { return tug::schema_of<Args>(); }
