// expect: more than 24 fields
#include "tug/core/codec.h"

struct Args {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y;
};

tug::Json schema() { return tug::schema_of<Args>(); }
