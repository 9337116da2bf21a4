#!/bin/sh
# Send the names of columns and all rows of a log from the first that is not in the state of a monitor, and then new ones.
log=$1 state=$2
taken=0
[ -e "$state" ] && taken=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["inputs"]["-"]["rows"])' "$state")
head -n 1 "$log"
exec tail -n "+$((taken + 2))" -F "$log"
