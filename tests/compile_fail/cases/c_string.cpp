// expect: a raw pointer is not supported
#include "tug/core/codec.h"

struct Args {
  const char* text;
};

tug::Json schema() { return tug::schema_of<Args>(); }
