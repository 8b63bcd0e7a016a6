// All of Tugline that a program usually needs.
#pragma once

#include "tug/agent/harness.h"
#include "tug/agent/invoke.h"
#include "tug/context/context.h"
#include "tug/core/reflect.h"
#include "tug/model/provider.h"
#include "tug/tools/typed_tool.h"
#include "tug/version.h"
