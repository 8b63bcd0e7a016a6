// expect: a C array is not supported
#include "tug/core/codec.h"

struct Args {
  int numbers[1];
};

tug::Json schema() { return tug::schema_of<Args>(); }
