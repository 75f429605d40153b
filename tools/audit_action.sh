#!/usr/bin/env bash
# The step of action.yml that audits: $TABLE read by $OPTIONS, beside the same table at commit $BASE; $FAIL_ON stops it.
set -euo pipefail
folder=${RUNNER_TEMP:-$(mktemp -d)}/recombine-audit
mkdir -p "$folder/before"
summary=$folder/summary.md
echo "summary=$summary" >> "${GITHUB_OUTPUT:-/dev/null}"

# Options as a shell would split them, but nothing in them is run or looked up among files.
words=()
while IFS= read -r -d '' word; do words+=("$word"); done < <(
  python -c 'import os, shlex, sys; sys.stdout.write("".join(f"{word}\0" for word in shlex.split(os.environ["OPTIONS"])))'
)
audit() { recombine audit "$@" ${words[@]+"${words[@]}"}; }
alone() {
  { echo "$1"; echo; echo '```text'; } > "$summary"
  audit "$TABLE" | tee -a "$summary"
  echo '```' >> "$summary"
}
show() { cat "$summary" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"; }

code=0
if test -z "${BASE:-}"; then
  alone "No commit was named to compare with."
elif ! git cat-file -e "$BASE^{commit}"; then
  echo "recombine: the commit to compare with is not here; give actions/checkout fetch-depth: 0" >&2
  exit 2
elif ! git cat-file -e "$BASE:$TABLE" 2> /dev/null; then
  alone "The table is new: there is nothing to compare with."
else
  before=$folder/before/$(basename "$TABLE")
  git show "$BASE:$TABLE" > "$before"
  audit "$before" --json > "$folder/before.json"
  stop=(--fail-on "${FAIL_ON:-}")
  case ${FAIL_ON:-none} in none) stop=() ;; esac
  audit "$TABLE" --baseline "$folder/before.json" --markdown "$summary" --force ${stop[@]+"${stop[@]}"} || code=$?
fi
test ! -f "$summary" || show
exit "$code"
