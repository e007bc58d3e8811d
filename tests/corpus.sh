#!/usr/bin/env bash
# Dry-runs every package below DIR/github.com/OWNER/NAME, without arguments and with each arguments
# file found in it, and prints a table: time, and the number of instructions or the reason of a
# failure. Needs no engine.
#
#   corpus.sh DIR
set -uo pipefail
dir=$(cd "${1:?which DIR?}" && pwd)
cd "$(dirname "$0")/.."
fettle=$PWD/build/release/fettle
export FETTLE_HOME=$(mktemp -d)
trap 'rm -rf "$FETTLE_HOME"' EXIT
good=0 bad=0

# Arguments files of a package: its tests, and the parameters in its documentation.
arguments_of() {
  find "$1" \( -path '*/.github/tests/*.y*ml' -o -name 'network_params*.y*ml' -o -path '*/examples/*.y*ml' -o -name 'args*.json' -o -name 'args*.y*ml' \) \
    -not -name 'kurtosis.yml' -type f | sort
}

try() {
  local package=$1 file=$2 began result count
  began=$(date +%s%N)
  result=$(timeout 60 "$fettle" run --dry-run "$package" ${file:+--args-file "$file"} --package-mirror "$dir" --output json 2>"$FETTLE_HOME/errors")
  local code=$? ms=$((($(date +%s%N) - began) / 1000000))
  if ((code == 0)); then
    good=$((good + 1))
    count=$(grep -c '"why":' <<<"$result")
    printf '%6d ms  %4d instructions  %s\n' "$ms" "$count" "${package#"$dir"/github.com/} ${file#"$package"/}"
  else
    bad=$((bad + 1))
    printf '%6d ms  %s  %s\n' "$ms" "${package#"$dir"/github.com/} ${file#"$package"/}" "$(head -1 "$FETTLE_HOME/errors" | cut -c1-160)"
  fi
}

while read -r file; do
  package=$(dirname "$file")
  try "$package" ""
  while read -r arguments; do try "$package" "$arguments"; done < <(arguments_of "$package")
done < <(find "$dir/github.com" -mindepth 3 -name kurtosis.yml | sort)
echo "$good interpreted, $bad not"
