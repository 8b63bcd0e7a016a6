// expect: a const field cannot be read into
#include "tug/core/codec.h"

struct Args {
  const int number = 3;
};

tug::Json schema() { return tug::schema_of<Args>(); }
