# Sourced by the other scripts: makes .venv and installs headrace into it, once per change of what it needs.
#
#   source scripts/environment.sh; environment [EXTRA]     then use "$python"
#
# PYTHON names the interpreter that .venv is made from (default: the first python3 that is 3.11 or newer).
#
#   source scripts/environment.sh; oldest_environment      the same in .venv-oldest, with the oldest of everything

environment() {
    local extra=${1:-} stamp candidate base=

    # A .venv whose interpreter is gone or broken (an interrupted first run) is made anew.
    if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
        for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
            if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
                base=$candidate
                break
            fi
        done
        if [ -z "$base" ]; then
            echo "headrace needs Python 3.11 or newer; none found${PYTHON:+ at PYTHON=$PYTHON}." >&2
            return 1
        fi
        echo "making .venv with $("$base" --version) ..." >&2
        rm -rf .venv
        "$base" -m venv .venv || {
            echo "Could not make a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2
            return 1
        }
    fi
    python=$PWD/.venv/bin/python

    # What was installed is written down only after pip has succeeded. A dev install serves all.
    stamp=$(cat pyproject.toml headrace/_src/version.py | cksum)
    if [ "$(cat .venv/.headrace-dev 2>/dev/null)" = "$stamp" ]; then return 0; fi
    if [ "$(cat ".venv/.headrace-$extra" 2>/dev/null)" = "$stamp" ]; then return 0; fi
    echo "installing headrace${extra:+[$extra]} into .venv ..." >&2
    "$python" -m pip install --quiet --disable-pip-version-check --editable ".${extra:+[$extra]}" || return 1
    printf '%s\n' "$stamp" >".venv/.headrace-$extra"
}

# The oldest Python that pyproject.toml allows, with the oldest versions that it allows of what headrace needs.
oldest_environment() {
    local stamp candidate base=

    if ! .venv-oldest/bin/python -m pip --version >/dev/null 2>&1; then
        for candidate in ${PYTHON:-python3.11 python3 python .venv/bin/python}; do
            if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' >/dev/null 2>&1; then
                base=$candidate
                break
            fi
        done
        if [ -z "$base" ]; then
            echo "The oldest allowed Python is 3.11; none found${PYTHON:+ at PYTHON=$PYTHON}." >&2
            return 1
        fi
        echo "making .venv-oldest with $("$base" --version) ..." >&2
        rm -rf .venv-oldest
        "$base" -m venv .venv-oldest || return 1
    fi
    python=$PWD/.venv-oldest/bin/python
    stamp=$(cat pyproject.toml scripts/oldest.py headrace/_src/version.py | cksum)
    if [ "$(cat .venv-oldest/.headrace 2>/dev/null)" = "$stamp" ]; then return 0; fi
    echo "installing the oldest allowed versions into .venv-oldest ..." >&2
    "$python" scripts/oldest.py >.venv-oldest/oldest.txt || return 1
    # In one step, so that pip sees whether these versions go together.
    "$python" -m pip install --quiet --disable-pip-version-check --requirement .venv-oldest/oldest.txt \
        --editable ".[dev]" || return 1
    printf '%s\n' "$stamp" >.venv-oldest/.headrace
}
