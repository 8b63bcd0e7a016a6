// expect: not a plain struct
#include "tug/core/codec.h"

class Args {
 public:
  int open;

 private:
  int hidden;
};

tug::Json schema() { return tug::schema_of<Args>(); }
