#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A check of the trips with curl: a plan, or an apology.
status=$(curl -sS --max-time 10 -o /dev/null -w '%{http_code}' "$TRIPS/trips/oslo") || exit 1
case $status in
200 | 503) ;;
*) echo "a trip to Oslo: $status" && exit 1 ;;
esac
