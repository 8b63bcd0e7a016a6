// expect: bit-field
#include "tug/core/codec.h"

struct Args {
  unsigned low : 3;
};

tug::Json schema() { return tug::schema_of<Args>(); }
