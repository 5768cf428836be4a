#!/bin/sh
# Lint a project, test it, and show what a change does to its minions. For pipelines of every kind.
#
# usage: check.sh STEP...        the steps are lint, test and diff
#
# MAPSTACK_BASE     the revision that `diff` compares with, such as origin/main
# MAPSTACK_RESULTS  the directory for the results (mapstack-results): lint.sarif, test.xml, diff.md
#
# The status is 0 if there is no error and every recorded result is as it was. A change of minions is no failure; it is
# shown. Each step runs, also after one that failed.
set -u
results=${MAPSTACK_RESULTS:-mapstack-results}
mkdir -p "$results" || exit 2
[ $# -gt 0 ] || { echo "usage: check.sh STEP..., where the steps are lint, test and diff" >&2; exit 2; }
worst=0

# ended STEP STATUS: remember the worst status of a step.
ended() {
  [ "$2" -eq 0 ] || echo "mapstack $1: exit status $2" >&2
  [ "$2" -le "$worst" ] || worst=$2
}

# GitHub and Gitea show annotations beside the lines of a pull request; elsewhere people read the log.
for_people() {
  if [ -n "${GITHUB_ACTIONS:-}" ]; then echo github; else echo text; fi
}

lint() {
  mapstack lint --format sarif >"$results/lint.sarif"
  status=$?
  # Status 2 is wrong usage: there are no findings to show, and the message was printed.
  [ "$status" -ge 2 ] || mapstack lint --format "$(for_people)" 2>&1
  ended lint "$status"
}

test_recorded() {
  mapstack test --format junit >"$results/test.xml"
  ended test $?
}

diff_base() {
  if [ -z "${MAPSTACK_BASE:-}" ]; then
    echo "mapstack diff: not run, since MAPSTACK_BASE names no revision to compare with" >&2
    return
  fi
  mapstack diff --from "$MAPSTACK_BASE" --to HEAD --format markdown >"$results/diff.md"
  status=$?
  cat "$results/diff.md"
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$results/diff.md" >>"$GITHUB_STEP_SUMMARY"; fi
  # 1 says that something differs, which is what a change is for.
  [ "$status" -ne 1 ] || status=0
  ended diff "$status"
}

for step in "$@"; do
  case $step in
    lint) lint ;;
    test) test_recorded ;;
    diff) diff_base ;;
    *)
      echo "check.sh: $step is not one of lint, test and diff" >&2
      exit 2
      ;;
  esac
done
exit "$worst"
