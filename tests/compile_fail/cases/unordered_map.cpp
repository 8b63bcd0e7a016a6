// expect: its order would not be stable
#include <string>
#include <unordered_map>

#include "tug/core/codec.h"

struct Args {
  std::unordered_map<std::string, int> table;
};

tug::Json schema() { return tug::schema_of<Args>(); }
