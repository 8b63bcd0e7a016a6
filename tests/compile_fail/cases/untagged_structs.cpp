// expect: must differ in their JSON type
#include <variant>

#include "tug/core/codec.h"

struct Left {
  int left;
};
struct Right {
  int right;
};
struct Args {
  std::variant<Left, Right> side;
};

tug::Json schema() { return tug::schema_of<Args>(); }
