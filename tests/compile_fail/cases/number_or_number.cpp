// expect: must differ in their JSON type
#include <variant>

#include "tug/core/codec.h"

struct Args {
  std::variant<int, double> number;
};

tug::Json schema() { return tug::schema_of<Args>(); }
