# The common part of the runners of system tests, Tests/System/PART/run, that source it.
#
# INGESTD    the binary under test (default: .build/debug/ingestd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
part=$(basename "$here" | tr '[:upper:]' '[:lower:]')
# Debian's own Python, whatever else is in the PATH.
python=/usr/bin/python3
INGESTD=$(realpath --no-symlinks "${INGESTD:-$root/.build/debug/ingestd}")
export INGESTD
export PYTHONPATH=$root/Tests/Support PYTHONDONTWRITEBYTECODE=1

fail() {
  echo "$part: $*" >&2
  exit 1
}

need_binaries() {
  local binary
  for binary in "$@"; do
    [ -x "$binary" ] || fail "$binary is missing: build it first (swift build), or name another (INGESTD)"
  done
}

# Makes $python that of an environment with the packages of requirements.txt, which are for Debian's version of Python.
make_environment() {
  local environment=$root/.build/$part
  if ! cmp --silent "$here/requirements.txt" "$environment/requirements.txt"; then
    echo "$part: installing $(wc -l < "$here/requirements.txt") packages"
    rm -rf "$environment"
    "$python" -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps \
      --requirement "$here/requirements.txt" ||
      fail "the packages of requirements.txt could not be installed"
    cp "$here/requirements.txt" "$environment/requirements.txt"
  fi
  python=$environment/bin/python
}

# run_module MODULE ARGUMENT…: runs a Python module of the test's folder in the place of this shell.
run_module() {
  cd "$here"
  exec "$python" -m "$@"
}
