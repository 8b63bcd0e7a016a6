// expect: have no exact JSON form
#include "tug/core/codec.h"

struct Args {
  long double number;
};

tug::Json schema() { return tug::schema_of<Args>(); }
