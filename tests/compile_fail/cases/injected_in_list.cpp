// expect: not inside a container or an optional
#include <vector>

#include "tug/core/codec.h"

struct Item {
  tug::Injected<int> secret;
};
struct Args {
  std::vector<Item> items;
};

tug::Json schema() { return tug::schema_of<Args>(); }
