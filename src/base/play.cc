#include "base/play.h"

namespace fettle {
namespace {

thread_local Play* play_of_thread = nullptr;

}  // namespace

Play* Play::current() { return play_of_thread; }

void Play::enter(Play* play) { play_of_thread = play; }

}  // namespace fettle
