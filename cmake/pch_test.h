#pragma once
/// What every test includes, precompiled.

#include <gtest/gtest.h>

#include "cmake/pch.h"
