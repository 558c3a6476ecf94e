# Validic's two APIs, both at its fake, as docs/destinations/validic.md shows it; a part of Tests/System/Commands/run,
# with its functions.
tools/install-packages python3 curl
begin_fake validic
export STATE_DIRECTORY=$work/validic
trial_token=$work/trial-token
(umask 077; echo fake-token > "$trial_token")

validic_state() { curl --silent --max-time 20 "$fake_url/state"; }
# until_kept TEXT: waits until what the fake has tells it.
until_kept() {
  local deadline=$((SECONDS + 60))
  until validic_state | grep -q "$1"; do
    [ $SECONDS -lt $deadline ] || { echo "failed  the fake never had: $1"; failed=$((failed + 1)); return 1; }
    sleep 0.1
  done
}

# The document's own file, with the places of this run.
sed -n '/^gateway: {id: trial/,/^```$/p' docs/destinations/validic.md | sed "/^\`\`\`/d; \
  s|http://127.0.0.1:8091|$fake_url|; s|/tmp/trial-token|$trial_token|; s|/tmp/trial,|$STATE_DIRECTORY,|" \
  > "$work/ingestd.yaml"
run check < /dev/null
check "Validic's trial has a good configuration" "0:" "$status:$(cat "$work/err")"

start
until_kept '"biometrics/'
until_kept '"measurements/'
until_kept '"temperature": "36.60"'
until_kept '"body_temperature": "36.60 C"'
until_kept '"resting_heartrate": "[0-9]'
check "both APIs take what the document says" '"faults": []' "$(validic_state | grep -o '"faults": \[\]')"
curl --silent -d '{"token": "another-token"}' "$fake_url/control" > /dev/null
run submit glucose 5.4 mmol/L --time 2026-11-20T09:15:00Z --subject patient-17 < /dev/null
until_told '"INGEST_EVENT":"session-ended".*"INGEST_DESTINATION":"v1"' "$work/events"
check "a token that is none any more ends the session" 1 \
  "$(grep '"INGEST_EVENT":"session-ended".*"INGEST_DESTINATION":"v1"' "$work/events" | grep -c '"INGEST_COUNT":"[1-9]')"
run failed list --json < /dev/null
check "and sets nothing aside" "" "$(cat "$work/out")"
echo another-token > "$trial_token"
kill -HUP "$gateway"
until_kept '"blood_glucose": "97.3"'
check "another one goes on with what was kept" 0 "$(grep -c '"INGEST_EVENT":"failed"' "$work/events")"
stop
check "no token is told or kept" "" \
  "$(grep -rlF -e fake-token -e another-token "$work/events" "$work/run.err" "$work/fake.err" "$STATE_DIRECTORY")"
end_fake
