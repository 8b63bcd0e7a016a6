// expect: use an owning type
#include <string_view>

#include "tug/core/codec.h"

struct Args {
  std::string_view text;
};

tug::Json schema() { return tug::schema_of<Args>(); }
