#!/usr/bin/env bash
# From a fresh clone to a tensor program that runs: installs what is missing, builds tangc, and
# compiles examples/attention.tir to C, runs it, and compares the result with the f64 interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/packages.sh build
tools/build.sh -DTANG_TESTS=OFF
tangc=build/tangc
example=examples/attention.tir
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$tangc" check "$example"
start=$(date +%s%N)
"$tangc" "$example" --target=c -o "$work/attention.c"
ms=$((($(date +%s%N) - start) / 1000000))
lines=$(wc -l <"$work/attention.c")
cp "$work"/attention.{c,h,json} build/

cat <<EOF

$("$tangc" --version) is built: build/tangc
  program    $example: $(head -n 1 "$example" | sed 's/^# *//')
  checked    every read is in range, for every size that the program allows
  compiled   to C in $ms ms: build/attention.c ($lines lines), attention.h, attention.json
  executed   on random arrays with S = 128, then compared with the f64 interpreter:
EOF
# Fails when the error is above 2e-6 of the greatest value.
"$tangc" run "$example" --bind S=128 --random --device=c --compare --tolerance=2e-6 2>&1 |
  sed 's/^/             /'
