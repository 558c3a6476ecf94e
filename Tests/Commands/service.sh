# What the service has to outlive; a part of Tests/Commands/run, with its functions.
export STATE_DIRECTORY=$work/outlives
cat > "$work/ingestd.yaml" << END
gateway: {id: outlives, trust_clock: true, state_directory: $STATE_DIRECTORY}
END

# The lock is taken before the queue is opened.
"$ingestd" run --radio simulated --events stdout --config "$work/ingestd.yaml" > "$work/events" 2> "$work/run.err" &
gateway=$!
deadline=$((SECONDS + 60))
until [ -e "$STATE_DIRECTORY/lock" ] || [ $SECONDS -ge $deadline ]; do :; done
kill -HUP "$gateway"
until_told '"INGEST_EVENT":"config-reloaded"' "$work/events"
check "a reload during the start is done at its end" 0 "$(kill -0 "$gateway"; echo $?)"
kill -TERM "$gateway"
wait "$gateway"
check "and the service goes on until it is told to stop" 0 $?
gateway=
