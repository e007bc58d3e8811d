#pragma once
/// What every test includes, precompiled.

#include <gtest/gtest.h>

#include "base/pch.h"
