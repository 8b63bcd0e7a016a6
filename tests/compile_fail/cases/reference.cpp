// expect: T{} must compile: a field is a reference
#include "tug/core/codec.h"

struct Args {
  int& number;
};

tug::Json schema() { return tug::schema_of<Args>(); }
