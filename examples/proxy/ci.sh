#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A test for CI. The first charge fails, and of the second one the answer is lost: does a client
# that tries again get through, and is the card charged only once? Exit code 0: yes. Arguments are
# options for curl, which is the client here.
#
# Nothing listens on a fixed port, so that any number of these can run at once. `outfox proxy` ends
# with exit code 4 when a rule never fired: then nothing was tested, and that is a failure too.
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
service='' proxy=''
trap 'kill $service $proxy 2>/dev/null || true; rm -rf "$work"' EXIT

# The URL in the line by which somebody says where it listens, waited for.
listening() {
    tries=100
    until url=$(sed -n 's/.*listening on \([^ ,]*\).*/\1/p' "$1") && [ -n "$url" ]; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || exit 1
        sleep 0.1
    done
    echo "$url"
}

python3 "$here/payment.py" >"$work/service" &
service=$!
to=$(listening "$work/service")
outfox proxy --listen 127.0.0.1:0 --to "$to" --service payment --log "$work/calls.jsonl" \
    --fault 'POST /charge #0 : 503' --fault 'POST /charge #1 : lost-reply:reset' >"$work/proxy" &
proxy=$!
url=$(listening "$work/proxy")

for try in 1 2 3; do
    curl -s --fail -d amount=5 "$@" "$url/charge" && break
    echo "attempt $try failed"
done

charges=$(curl -s "$to/charges")
kill $proxy
wait $proxy
proxy=''
echo "afterwards: $charges"
[ "$charges" = '{"charges": 1}' ] || { echo 'the card was not charged exactly once'; exit 1; }
