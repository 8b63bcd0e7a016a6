// expect: use an integer with its unit in the name
#include <chrono>

#include "tug/core/codec.h"

struct Args {
  std::chrono::milliseconds timeout;
};

tug::Json schema() { return tug::schema_of<Args>(); }
