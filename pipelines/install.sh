#!/bin/sh
# Install the command into a virtual environment of its own, and put it on the path of the steps that follow.
#
# MAPSTACK_VERSION  which version (the newest)
# RUNNER_TEMP       where the environment goes (the directory for temporary files)
# GITHUB_PATH       the file that a runner reads directories for the path from; without it, the directory is printed
set -eu
directory=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/mapstack
python3 -m venv "$directory"
"$directory/bin/pip" install --quiet "mapstack${MAPSTACK_VERSION:+==$MAPSTACK_VERSION}"
if [ -n "${GITHUB_PATH:-}" ]; then
  echo "$directory/bin" >>"$GITHUB_PATH"
else
  echo "$directory/bin"
fi
