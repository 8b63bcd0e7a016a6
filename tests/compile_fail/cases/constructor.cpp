// expect: not a plain struct
#include "tug/core/codec.h"

struct Args {
  Args() {}
  int number;
};

tug::Json schema() { return tug::schema_of<Args>(); }
