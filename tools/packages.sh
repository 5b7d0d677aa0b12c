#!/usr/bin/env bash
# Installs the Debian packages of the sets that are named, as far as they are missing:
#
#   tools/packages.sh build test
#
# As root, or through sudo. Prints what it installs; says nothing when all is there.
set -euo pipefail

cd "$(dirname "$0")/.."

declare -A sets=(
  [build]="g++ cmake ninja-build libfmt-dev libcli11-dev nlohmann-json3-dev"
  [test]="libgtest-dev libgmock-dev libz3-dev pkg-config make $(tr '\n' ' ' <tests/packages.txt)"
)

missing=()
for set in "$@"; do
  for package in ${sets[$set]:?there is no package set of that name}; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
  done
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "these packages are missing, and installing them takes root or sudo: ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "installing: ${missing[*]}"
quietly() {
  local log
  log=$(mktemp)
  "$@" >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; exit 1; }
  rm -f "$log"
}
export DEBIAN_FRONTEND=noninteractive
quietly "${as_root[@]}" apt-get update
quietly "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"
