// expect: T must be a plain object type
#include "tug/core/codec.h"

struct Args {
  tug::Injected<int&> secret;
};

tug::Json schema() { return tug::schema_of<Args>(); }
