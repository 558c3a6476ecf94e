# Scans and reads by the running service; a part of Tests/System/Commands/run, with its functions.
export STATE_DIRECTORY=$work/radio
thermometer=C0:00:00:00:00:01
cat > "$work/ingestd.yaml" << END
gateway: {id: commands, trust_clock: true}
passive: {quiet_period: 1s, cooldown: 500ms}
peripherals:
  - {id: 1002, address: "$thermometer", alias: kitchen, subject: patient-17}
  - {id: 1009}
END

: > "$work/out" > "$work/err"
rm -f "$work/control.sock"
run read 1002 < /dev/null
check "without a service nothing is read" 69 "$status"
run read kitchen < /dev/null
check "nor by its alias" 69 "$status"
run read cellar < /dev/null
check "what is read is an ID, an address or an alias" 64 "$status"
run read 1002 --timeout 0 < /dev/null
check "for some time" 64 "$status"
run scan --seconds 1000 < /dev/null
check "a scan has an end" 64 "$status"

start
# The thermometer has three readings, each of which it offers until it is confirmed.
run read 1002 --dry-run --json < /dev/null
check "a dry run reads" 0 "$status"
check "and prints the record" 1 "$(grep -c '"kind":"body-temperature"' "$work/out")"
dry=$(sed -n 's/.*"id":"\([0-9a-f-]*\)".*/\1/p' "$work/out")
run records --json < /dev/null
check "which is not in the queue by that" 0 "$(grep -c "$dry" "$work/out")"
run read $thermometer < /dev/null
check "a read reads" 0 "$status"
check "shows the values" 1 "$(grep -c 'body-temperature 3[67]\.' "$work/out")"
check "and says what is queued" 1 "$(grep -c '^Queued: 1 new' "$work/out")"
until_told '"INGEST_EVENT":"read"' "$work/events"
run read 1000 < /dev/null
check "what is not listed is not read" 65 "$status"
run read 1009 < /dev/null
check "nor is what only broadcasts" 65 "$status"
run read 1002 --timeout 1 --json < /dev/null
while [ "$status" = 0 ]; do run read 1002 --timeout 4 --json < /dev/null; done
check "who does not come is not seen" 69 "$status"
check "in one line" 1 "$(wc -l < "$work/err")"

run scan --seconds 12 --json < /dev/null
check "a scan finds devices" 0 "$status"
check "with their names" 1 "$(grep -c '"name":"Cuff B-0006"' "$work/out")"
check "and entries" 1 "$(grep -c '"entry":"- {id: 1001, address: \\"C0:00:00:00:00:06\\"}"' "$work/out")"
check "a pipe gets no progress" 0 "$(wc -c < "$work/err")"
run scan --seconds 12 < /dev/null
check "for people too" 1 "$(grep -c -- '^ *- {id: 1001, address: "C0:00:00:00:00:06"}$' "$work/out")"
check "in 80 columns" 0 "$(grep -c '.\{81\}' "$work/out")"
check "no name is in the journal" 0 "$(grep -c 'B-0006\|C0:00' "$work/events")"

# On a terminal, which is told how far it is.
begin_scan() {
  # What an earlier one has told is nothing to wait for.
  rm -f "$work/terminal"
  script --quiet --flush --return --command "exec '$ingestd' scan --seconds 100 --config '$work/ingestd.yaml'" \
    "$work/terminal" > /dev/null 2>&1 < /dev/null &
  scan=$!
  until_told "s to go" "$work/terminal"
}
begin_scan
run read 1002 --timeout 1 < /dev/null
check "a scan has the radio for itself" 75 "$status"
check "which is said" 1 "$(grep -c 'is under way' "$work/err")"
kill -INT "$(pgrep --parent $scan)"
wait $scan
check "Ctrl-C stops a scan" 130 $?
run scan --seconds 1 --json < /dev/null
check "and the next one may begin" 0 "$status"
begin_scan
stop
check "a service stops also while it scans" 0 $?
wait $scan
check "which its client says" 75 $?
