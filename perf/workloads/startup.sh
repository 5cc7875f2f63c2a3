# shellcheck shell=bash
# startup: from the call until it says ready

workload_cells() { echo "op=startup"; }
