// expect: a C array is not supported
#include "tug/core/codec.h"

struct Args {
  int first;
  int numbers[3];
};

tug::Json schema() { return tug::schema_of<Args>(); }
