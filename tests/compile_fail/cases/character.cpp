// expect: a character is not supported
#include "tug/core/codec.h"

struct Args {
  char letter;
};

tug::Json schema() { return tug::schema_of<Args>(); }
