// expect: must differ in their JSON type
#include <variant>

#include "tug/core/codec.h"

struct Left {
  tug::Literal<"side"> kind;
};
struct Right {
  tug::Literal<"side"> kind;
};
struct Args {
  std::variant<Left, Right> side;
};

tug::Json schema() { return tug::schema_of<Args>(); }
