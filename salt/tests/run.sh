#!/usr/bin/env bash
# Build the native module and the Salt extension, and test both in a real Salt.
# usage: salt/tests/run.sh [ARGUMENTS OF PYTEST]
# MAPSTACK_PYTHON3 is the Python to use (3.10 or later); MAPSTACK_SALT_VENV the virtual environment to keep.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${MAPSTACK_SALT_VENV:-$PWD/native/target/venv}
if [ ! -x "$venv/bin/python" ]; then "${MAPSTACK_PYTHON3:-python3}" -m venv "$venv"; fi
"$venv/bin/pip" install --quiet -r tests/requirements.txt

cd native
cargo fmt --check
cargo clippy --quiet --all-targets --all-features -- -D warnings
VIRTUAL_ENV=$venv "$venv/bin/maturin" develop --quiet --features panics
cd ..
"$venv/bin/pip" install --quiet --no-deps ./saltext-mapstack
# Salt logs at the end of the process, when Pytest has closed what it captures.
exec "$venv/bin/python" -m pytest -p no:logging tests "$@"
