# What the service has to outlive; a part of Tests/System/Commands/run, with its functions.
export STATE_DIRECTORY=$work/outlives
cat > "$work/ingestd.yaml" << END
gateway: {id: outlives, trust_clock: true, state_directory: $STATE_DIRECTORY}
peripherals: [{id: 1009}]
END

# Asks until all is well, for some time.
until_well() {
  local deadline=$((SECONDS + 30))
  until run status && [ "$status" = 0 ] || [ $SECONDS -ge $deadline ]; do sleep 0.5; done
}

# The lock is taken before the queue is opened.
launch
deadline=$((SECONDS + 60))
until [ -e "$STATE_DIRECTORY/lock" ] || [ $SECONDS -ge $deadline ]; do :; done
kill -HUP "$gateway"
until_told '"INGEST_EVENT":"config-reloaded"' "$work/events"
check "a reload during the start is done at its end" 0 "$(kill -0 "$gateway"; echo $?)"
stop
check "and the service goes on until it is told to stop" 0 $?

start
run reload
check "a reload says that it was taken" "The configuration is in force." "$(cat "$work/out")"
cp "$work/ingestd.yaml" "$work/good.yaml"
sed -i 's/1009/4711/' "$work/ingestd.yaml"
run reload
check "one that is not valid fails" 78 "$status"
check "and says what is wrong" 1 "$(grep -c 'ingestd.yaml:2:20: peripherals\[0\].id' "$work/err")"
cp "$work/good.yaml" "$work/ingestd.yaml"
run status
check "the status says so until one is taken" "1 1" "$status $(grep -c '! the last reload was rejected' "$work/out")"
run status --json
check "also to programs" 1 "$(grep -c '"rejected_reload":"' "$work/out")"
check "and to the metrics" 0 "$(curl -s --unix-socket "$work/control.sock" http://x/metrics |
  sed -n 's/^ingestd_config_last_reload_successful //p')"
run reload
check "what is good again is taken" 0 "$status"
until_well
check "and all is well" 0 "$status"
stop

# A peer that opens connections and says nothing, more of them than there are descriptors.
rm -f "$work/out"
with_few_descriptors() { ulimit -n 128 && exec "$@"; }
start with_few_descriptors
python3 - "$work/control.sock" > "$work/out" << 'END' &
import socket, sys, time
held = []
for _ in range(300):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(10)
    try:
        connection.connect(sys.argv[1])
    except OSError:
        # It may be away for a second, at so many a second.
        pass
    held.append(connection)
    time.sleep(0.01)
print("connected", flush=True)
time.sleep(60)
END
holder=$!
until_told connected "$work/out"
until_well
check "who says nothing keeps nobody from asking" 0 "$status"
kill "$holder"
wait "$holder" 2> /dev/null
stop

rm -f "$work/out"
python3 - "$work/control.sock" > "$work/out" << 'END' &
import socket, sys, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("listening", flush=True)
time.sleep(60)
END
holder=$!
until_told listening "$work/out"
start
until_told "control socket .*another process listens there" "$work/run.err"
kill "$holder"
wait "$holder" 2> /dev/null
until_well
check "a socket that could not be had is tried again" 0 "$status"
stop

"$ingestd" status --config "$work/nowhere.yaml" > "$work/out" 2> "$work/err"
check "a configuration that was named and is not there is not the installed one" 78 $?

start
"$ingestd" status --config "$work/ingestd.yaml" > /dev/full 2> "$work/err"
check "what cannot be written is not ill health" 74 $?
check "and is said in one line" 1 "$(grep -c 'standard output: No space left' "$work/err")"
"$ingestd" status --watch --config "$work/ingestd.yaml" 2> "$work/err" | head -n 1 > "$work/out"
check "a reader that went away is told nothing" "" "$(cat "$work/err")"
stop

# What is in the place of the socket, or of other files, and is none of ours.
ln -sfn "$work/nowhere/x" "$work/control.sock"
start
until_well
check "a link that leads nowhere gives way to the socket" 0 "$status"
stop
mkdir -p "$work/control.sock/kept"
start
until_told "control socket " "$work/run.err"
check "a directory in the place of the socket is told of" 1 "$(grep -c "control socket .*$work/control.sock" "$work/run.err")"
check "and stays with what it holds" yes "$([ -d "$work/control.sock/kept" ] && echo yes)"
stop
rmdir "$work/control.sock/kept" "$work/control.sock"
mv "$STATE_DIRECTORY/lock" "$work/lock"
ln -s "$work/elsewhere" "$STATE_DIRECTORY/lock"
timeout 60 "$simulated" run --config "$work/ingestd.yaml" > "$work/out" 2> "$work/err"
check "a link in the place of the lock is not followed" "73 no" "$? $([ -e "$work/elsewhere" ] && echo yes || echo no)"
check "and is named" 1 "$(grep -c "$STATE_DIRECTORY/lock: a link is in the place of the lock" "$work/err")"
rm "$STATE_DIRECTORY/lock"
mkdir "$STATE_DIRECTORY/lock"
timeout 60 "$simulated" run --config "$work/ingestd.yaml" > "$work/out" 2> "$work/err"
check "a directory in the place of the lock is named" "73 1" \
  "$? $(grep -c "$STATE_DIRECTORY/lock: a directory is in the place of the lock" "$work/err")"
rmdir "$STATE_DIRECTORY/lock"
mv "$work/lock" "$STATE_DIRECTORY/lock"
gateway=
