// What nearly every test uses, parsed once.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../src/precompiled.h"
#include "tug/testkit/models.h"
#include "tug/tug.h"
