#!/usr/bin/env bash
# Builds tangc with its tests and runs them:  tools/test.sh [LABEL]
#
# Installs what is missing (see tools/packages.sh), builds into build/, and ends with ctest's own
# summary. LABEL is one of ctest's (core, run, ...); without one everything runs but `nightly`.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/packages.sh build test
tools/build.sh -DTANG_TESTS=ON

select=(--label-exclude '^nightly$')
if [ $# -gt 0 ]; then
  select=(--label-regex "^$1\$")
fi
ctest --test-dir build --output-on-failure --parallel "$(nproc)" --no-tests=error "${select[@]}"
