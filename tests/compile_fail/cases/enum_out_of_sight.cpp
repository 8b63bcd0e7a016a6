// expect: no enumerator between -8 and 127
#include "tug/core/codec.h"

enum class Far { away = 1000 };
struct Args {
  Far far;
};

tug::Json schema() { return tug::schema_of<Args>(); }
