#!/usr/bin/env bash
# Configures and builds build/ (Release, Ninja), with what is given passed to cmake.
#
# Quiet when all goes well: the last lines of the log otherwise, and where it is.
set -euo pipefail
cd "$(dirname "$0")/.."

# Another generator's build folder cannot be reused.
if [ -f build/CMakeCache.txt ] && ! grep -q '^CMAKE_GENERATOR:INTERNAL=Ninja$' build/CMakeCache.txt; then
  echo "build/ was configured for another generator than Ninja; remove it first" >&2
  exit 1
fi
mkdir -p build
log=build/build.log
fail() {
  tail -n 60 "$log" >&2
  echo "the build failed; all of its output is in $log" >&2
  exit 1
}
cmake -S . -B build -G Ninja "$@" >"$log" 2>&1 || fail
echo "building (the first time takes a few minutes) ..."
cmake --build build >>"$log" 2>&1 || fail
