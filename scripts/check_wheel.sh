#!/usr/bin/env bash
# Installs the built wheel in an environment of its own, with no node on the path, and checks that both
# halves of the extension are there, enabled and working.
set -euo pipefail
cd "$(dirname "$0")/.."
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/venv"
bin="$room/venv/bin"
"$bin/pip" install -q --disable-pip-version-check -r requirements.lock
"$bin/pip" install -q --disable-pip-version-check --no-deps dist/*.whl
cd "$room" # away from the checkout, so that the installed package is the one that runs
export PATH="$bin:/usr/bin:/bin"
hash -r
if command -v node >/dev/null; then echo "note: a node is on the path ($(command -v node)); it is not used"; fi
jupyter labextension list 2>&1 | tee labs.txt | grep -E 'onnx-autodoc .*enabled.*OK' || { cat labs.txt; exit 1; }
jupyter server extension list 2>&1 | tee servers.txt | grep -A2 -E 'py_autodoc.*enabled' | grep -E 'OK' || { cat servers.txt; exit 1; }
python - "$OLDPWD/examples/resnet_tiny.onnx" <<'PY'
import sys

import py_autodoc

report = py_autodoc.analyze(sys.argv[1], hardware="l4")
assert report.metrics.total_macs == 3729664, report.metrics
assert report.hardware_estimates.estimated_latency_ms > 0, report.hardware_estimates
print("analysed with the wheel in", py_autodoc.__file__.split("site-packages")[-1])
PY
