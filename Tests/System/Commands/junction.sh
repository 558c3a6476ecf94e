# Signing in and out at Junction's fake, and making users there; a part of Tests/System/Commands/run, with its
# functions.
tools/install-packages python3
begin_fake junction
export STATE_DIRECTORY=$work/junction
session=$STATE_DIRECTORY/session-junction.json
thermometer=C0:00:00:00:00:01

# configure_junction USER URL [KEYS OF THE DESTINATION]
configure_junction() {
  cat > "$work/ingestd.yaml" << END
gateway: {id: commands, trust_clock: true}
passive: {quiet_period: 1s, cooldown: 500ms}
peripherals:
  - {id: 1002, address: "$thermometer", subject: $1}
destinations:
  - {name: junction, type: junction, url: "$2", user: $1${3:-}}
END
}

# Changes how the fake answers, and tells what it has got.
control() { ask_fake /control "$1" > /dev/null; }
fake_state() { ask_fake /state; }
# ask_fake PATH [BODY]
ask_fake() {
  python3 - "$fake_url$1" "${2:-}" << 'END'
import sys, urllib.request
url, body = sys.argv[1], sys.argv[2].encode() or (b"" if "sign_in_token" in sys.argv[1] else None)
request = urllib.request.Request(url, body, {"x-vital-api-key": "fake-api-key"})
sys.stdout.write(urllib.request.urlopen(request, timeout=20).read().decode())
END
}
# sign_in_token USER_ID: as the customer's backend gets it.
sign_in_token() { ask_fake "/v2/user/$1/sign_in_token" | sed 's/.*"sign_in_token": "\([^"]*\)".*/\1/'; }

restart() {
  stop "$@"
  start
}

echo fake-api-key > "$work/key"
echo another > "$work/bad-key"
configure_junction patient-17 http://127.0.0.1:9
run user create patient-17 --api-key "$work/key" < /dev/null
check "users are made where the API can be reached" 69 "$status"
configure_junction patient-17 "$fake_url"
run user create patient-17 < /dev/null
check "a user needs a key" 64 "$status"
run user create patient-17 --api-key "$work/bad-key" < /dev/null
check "which the API accepts" 77 "$status"
check "and which is not shown" 0 "$(grep -c another "$work/err")"
run user create patient-17 --api-key "$work/key" --json < /dev/null
check "then there is one" 1 "$(grep -c '^{"client_user_id":"patient-17","user_id":"[0-9a-f-]*","created":true}$' "$work/out")"
user=$(sed -n 's/.*"user_id":"\([^"]*\)".*/\1/p' "$work/out")
run user create patient-17 --api-key "$work/key" < /dev/null
check "the same one the next time" "There is already a user patient-17: $user" "$(cat "$work/out")"
run user create patient-18 --api-key "$work/key" --json < /dev/null
other=$(sed -n 's/.*"user_id":"\([^"]*\)".*/\1/p' "$work/out")

start
check "without a session a start says so" 1 "$(grep -c 'junction has no session' "$work/run.err")"
run sign-in junction < /dev/null
check "a session needs a token" 64 "$status"
echo rubbish > "$work/rubbish"
run sign-in junction --token "$work/rubbish" < /dev/null
check "a token that is none is refused" 65 "$status"
run sign-in junction --token "$work/nowhere" < /dev/null
check "and a file that is none" 65 "$status"
control '{"status": 503}'
sign_in_token "$user" | { run sign-in junction --token - --json; echo $status > "$work/status"; }
check "a token from standard input opens one" 0 "$(cat "$work/status")"
check "and says for whom" \
  "{\"destination\":\"junction\",\"user\":\"patient-17\",\"user_id\":\"$user\",\"authentication\":[\"sign-in-token\"],\"set_aside\":0}" \
  "$(cat "$work/out")"
run status
check "status says for whom, too" 1 "$(grep -c "junction: signed in for patient-17 ($user there)" "$work/out")"
check "it is the service's alone" 600 "$(stat -c %a "$session")"
check "and no draft of it is left" no "$([ -e "$session.new" ] && echo yes || echo no)"
sign_in_token "$other" > "$work/other"
run sign-in junction --token "$work/other" < /dev/null
check "another user's token is refused" 65 "$status"
sign_in_token "$user" > "$work/token"
# Longer than the control socket waits for anything.
control '{"delay": 21}'
run sign-in junction --token "$work/token" < /dev/null
check "the same user's is fine, however slow the answer is" 0 "$status"
control '{"delay": 0}'
run sign-in junction --token "$work/token" < /dev/null
check "but good for one exchange" 65 "$status"
run sign-in junction < /dev/null
check "and the session stays" 0 "$status"
until_told '"INGEST_EVENT":"destination-down"' "$work/events"

restart KILL
check "it outlives the service" 0 "$(grep -c 'has no session' "$work/run.err")"
until_told '"INGEST_EVENT":"retrying"' "$work/events"
kill "$gateway"
wait "$gateway" 2> /dev/null
python3 - "$STATE_DIRECTORY/queue.db" << 'END'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as queue:
    queue.execute("UPDATE destination SET signed_out = 1")
END
start
check "a sign-in that only the queue has lost is told" 1 "$(grep -c 'junction is signed out' "$work/run.err")"
run sign-in junction < /dev/null
check "and is made again, without a token" 0 "$status"
until_told '"INGEST_EVENT":"destination-down"' "$work/events"
control '{"end_user": true}'
until_told '"INGEST_EVENT":"session-ended"' "$work/events"
check "a user who is gone ends it, and nothing is lost" 1 \
  "$(grep '"INGEST_EVENT":"session-ended"' "$work/events" | grep -c 'INGEST_COUNT":"[1-9]')"
run sign-in junction < /dev/null
check "then it needs a token" 64 "$status"
check "and no token is left of it" 0 "$(grep -c '"tokens"' "$session")"
control '{"status": null}'
sign_in_token "$user" | { run sign-in junction --token -; echo $status > "$work/status"; }
check "the next token opens it again" 0 "$(cat "$work/status")"
until_told '"INGEST_EVENT":"submitted"' "$work/events"
# Each start gives the thermometer's readings anew.
check "what waited is there" yes \
  "$(fake_state | grep -q "$user/temperature/manual/unknown/.*36.60" && echo yes || echo no)"

cp "$session" "$work/kept"
run sign-out junction --yes < /dev/null
check "sign-out erases it" no "$([ -e "$session" ] && echo yes || echo no)"
run sign-in junction < /dev/null
check "and the next session needs a token" 64 "$status"

configure_junction patient-18 "$fake_url"
restart
run sign-in junction --token "$work/other" < /dev/null
check "another user is not signed in unasked" 64 "$status"
run sign-in junction --token "$work/other" --yes < /dev/null
check "but when the operator says so" 0 "$status"

configure_junction patient-18 "$fake_url" ", auth: api-key, credential: $work/key"
restart
check "an API key is for trials" 1 "$(grep -c 'for trials; sign-in-token opens one' "$work/run.err")"
run sign-in junction --token "$work/token" < /dev/null
check "and goes without tokens" 64 "$status"
run sign-in junction < /dev/null
check "signing in looks the user up again" 0 "$status"

# What a phone exports: series, summaries, and a sample that Junction has no place for.
cat > "$work/export.xml" << 'END'
<?xml version="1.0" encoding="UTF-8"?>
<HealthData locale="en_GB">
<ExportDate value="2026-11-21 09:00:00 +0000"/>
<Record type="HKQuantityTypeIdentifierStepCount" sourceName="Phone" unit="count" value="812"
 startDate="2026-11-20 09:15:00 +0000" endDate="2026-11-20 09:25:00 +0000"/>
<Record type="HKQuantityTypeIdentifierAppleExerciseTime" sourceName="Watch" unit="min" value="12"
 startDate="2026-11-20 09:15:00 +0000" endDate="2026-11-20 09:27:00 +0000"/>
<Record type="HKQuantityTypeIdentifierDietaryWater" sourceName="Phone" unit="L" value="0.25"
 startDate="2026-11-20 10:00:00 +0000" endDate="2026-11-20 10:00:00 +0000"/>
<Record type="HKQuantityTypeIdentifierHeight" sourceName="Phone" unit="m" value="1.785"
 startDate="2026-11-20 11:00:00 +0000" endDate="2026-11-20 11:00:00 +0000"/>
<Record type="HKCategoryTypeIdentifierSleepAnalysis" sourceName="Watch" value="HKCategoryValueSleepAnalysisAsleepDeep"
 startDate="2026-11-20 01:10:00 +0000" endDate="2026-11-20 01:55:00 +0000"/>
<Record type="HKCategoryTypeIdentifierMenstrualFlow" sourceName="Phone" value="HKCategoryValueMenstrualFlowLight"
 startDate="2026-11-20 08:00:00 +0000" endDate="2026-11-20 08:00:00 +0000">
 <MetadataEntry key="HKMenstrualCycleStart" value="1"/>
</Record>
<ActivitySummary dateComponents="2026-11-20" activeEnergyBurned="312.5" activeEnergyBurnedUnit="kcal"/>
<Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="31.5" durationUnit="min" sourceName="Watch"
 startDate="2026-11-20 17:00:00 +0000" endDate="2026-11-20 17:31:30 +0000"/>
</HealthData>
END
run import apple-health "$work/export.xml" --subject patient-18 < /dev/null
check "an import is taken" 0 "$status"
for _ in {1..300}; do
  fake_state > "$work/taken"
  grep -q '/workout/' "$work/taken" && break
  sleep 0.1
done
found=$(for sample in '/steps/apple_health_kit/[^"]*": "812 count"' '/water/apple_health_kit/[^"]*": "250 mL"' \
  '/height/apple_health_kit": "179"' '/sleep-deep/apple_health_kit/[^"]*": "4 stage"' \
  '/cycle/apple_health_kit/2026-11-20": "2026-11-20 9999-12-31 menstrual_flow 2026-11-20 light"' \
  '/apple_health_kit/active_energy_burned_sum/2026-11-20": "312.5"' \
  '/workout/apple_health_kit/[^"]*": "Running 1890"'; do grep -c "$sample" "$work/taken"; done)
check "and goes where a phone's own program puts it" "1 1 1 1 1 1 1" "$(echo $found)"
run status --json
check "what has no place there is passed over, and no dead letter" "1 0" "$(python3 -c '
import json, sys
there, = json.load(sys.stdin)["destinations"]
print(there["skipped"], there["failed"])' < "$work/out")"
stop
secret() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' "$work/kept"; }
access=$(secret access) refresh=$(secret refresh)
# Where one is not found in the file, a word that the events have.
check "no token is told" "" "$(grep -lF -e "${access:-INGEST}" -e "${refresh:-INGEST}" -e "$(cat "$work/token")" \
  "$work"/*.err "$work/events" "$work/out")"
check "the fake was asked nothing that it does not know" '"faults": []' \
  "$(fake_state | grep -o '"faults": \[\]')"
end_fake
