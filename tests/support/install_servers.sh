#!/bin/sh
# Installs the published MCP servers that the tests marked `network` drive, at pinned versions, into .servers/.
# Usage: tests/support/install_servers.sh [python]     (from anywhere; default python3)
# A part that is already there is left alone; a part that cannot be had is reported, and its tests are skipped.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${1:-python3}
target="$root/.servers"
failed=0
mkdir -p "$target"

python_servers() {
    want="$here/servers/$1.txt"
    have="$target/$1/installed.txt"
    if cmp -s "$want" "$have"; then return 0; fi
    rm -rf "${target:?}/$1"
    "$python" -m venv "$target/$1" &&
        "$target/$1/bin/pip" install --quiet --quiet --disable-pip-version-check -r "$want" &&
        cp "$want" "$have"
}

node_servers() {
    want="$here/servers/package-lock.json"
    have="$target/npm/installed.json"
    if cmp -s "$want" "$have"; then return 0; fi
    rm -rf "$target/npm"
    mkdir -p "$target/npm"
    cp "$here/servers/package.json" "$here/servers/package-lock.json" "$target/npm/"
    (cd "$target/npm" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) && cp "$want" "$have"
}

for part in python-current python-classic; do
    python_servers "$part" || { echo "install_servers: $part is not available" >&2; failed=1; }
done
if command -v npm >/dev/null 2>&1; then
    node_servers || { echo "install_servers: the npm servers are not available" >&2; failed=1; }
else
    echo "install_servers: npm is not installed" >&2
    failed=1
fi
exit $failed
