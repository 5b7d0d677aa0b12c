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

echo
echo "1. The program, $example:"
grep --invert-match -e '^#' -e '^$' "$example" | sed 's/^/     /'
"$tangc" check "$example"
echo "   Every read is proved in range, for every size that the program allows."
echo
start=$(date +%s%N)
"$tangc" "$example" --target=c -o "$work/attention.c"
ms=$((($(date +%s%N) - start) / 1000000))
lines=$(wc -l <"$work/attention.c")
echo "2. Compiled to C in $ms ms: attention.c ($lines lines), attention.h and attention.json."
cp "$work"/attention.{c,h,json} build/
echo "   They are in build/; the interface is in build/attention.h."
echo
echo "3. Built and run on random arrays with S = 128, and compared with the f64 interpreter:"
"$tangc" run "$example" --bind S=128 --random --device=c --compare --tolerance=2e-6 2>&1 |
  sed 's/^/   /'
