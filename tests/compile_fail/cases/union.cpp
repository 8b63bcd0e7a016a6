// expect: use std::variant
#include "tug/core/codec.h"

union Either {
  int number;
  float real;
};
struct Args {
  Either either;
};

tug::Json schema() { return tug::schema_of<Args>(); }
