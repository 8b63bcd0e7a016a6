// expect: its order would not be stable
#include <string>
#include <unordered_set>

#include "tug/core/codec.h"

struct Args {
  std::unordered_set<std::string> names;
};

tug::Json schema() { return tug::schema_of<Args>(); }
