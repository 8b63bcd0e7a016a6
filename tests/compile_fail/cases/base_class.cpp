// expect: a base class is not supported
#include "tug/core/codec.h"

struct Base {
  int inherited;
};
struct Args : Base {
  int own;
};

tug::Json schema() { return tug::schema_of<Args>(); }
