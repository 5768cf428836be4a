#!/usr/bin/env bash
# Build the native module and the Salt extension, and test both in a real Salt.
# usage: salt/tests/run.sh [SALT] [ARGUMENTS OF PYTEST]
# SALT is the version of Salt [default: 3008.3]. MAPSTACK_PYTHON3 is the Python to use (3.10 or later, and 3.10 for Salt
# before 3008); MAPSTACK_SALT_VENV the virtual environment to keep.
set -euo pipefail
cd "$(dirname "$0")/.."
salt=3008.3
if [[ ${1:-} =~ ^30[0-9][0-9]\.[0-9]+$ ]]; then
    salt=$1
    shift
fi
venv=${MAPSTACK_SALT_VENV:-$PWD/native/target/venv-$salt}
if [ ! -x "$venv/bin/python" ]; then "${MAPSTACK_PYTHON3:-python3}" -m venv "$venv"; fi
needed=(-r tests/requirements.txt)
if [ "${salt%%.*}" -lt 3008 ]; then needed+=(-r tests/older.txt); fi
"$venv/bin/pip" install --quiet "salt==$salt" "${needed[@]}"

cd native
cargo fmt --check
cargo clippy --quiet --all-targets --all-features -- -D warnings
VIRTUAL_ENV=$venv "$venv/bin/maturin" develop --quiet --features panics
# The function that panics is for tests, so the interface does not name it.
"$venv/bin/python" -m mypy.stubtest mapstack --concise --allowlist <(printf 'mapstack._native.%s\n' panic __all__)
cd ..
# It has what was built before, also of modules that are gone.
rm -rf saltext-mapstack/build
"$venv/bin/pip" install --quiet --no-deps ./saltext-mapstack
if [ -z "${MAPSTACK_COMMAND:-}" ]; then
    (cd .. && cargo build --quiet --package mapstack-cli)
    export MAPSTACK_COMMAND=$PWD/../target/debug/mapstack
fi
exec "$venv/bin/python" -m pytest --log-level=WARNING tests "$@"
