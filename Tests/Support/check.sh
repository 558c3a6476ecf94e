# The common part of the system tests that are shell scripts. A script changes to the project's folder and sources this
# file; its last command is `report`. Each test is one line, and each script ends with the sum of its tests.
#
# INGESTD    the binary under test (default: .build/debug/ingestd)
ingestd=$(realpath --no-symlinks "${INGESTD:-.build/debug/ingestd}")
simulated=$ingestd-simulated
work=$(mktemp -d)
passed=0 failed=0
# The gateway's process, if one runs.
gateway=
# The files below $work that a failed check prints.
shown=(out err)
# What `run` adds to each command.
configured=(--config "$work/ingestd.yaml")

# Ends all processes in the background. A script that has changed something outside of $work defines `put_back`.
finish() {
  # shellcheck disable=SC2046  # a word for each process
  kill -KILL $(jobs -p) 2> /dev/null
  wait 2> /dev/null
  if declare -F put_back > /dev/null; then put_back; fi
  rm -rf "$work"
}
trap finish EXIT

# check NAME EXPECTED ACTUAL
check() {
  local file
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1))
    echo "passed  $1"
  else
    failed=$((failed + 1))
    echo "failed  $1: expected '$2', got '$3'"
    for file in "${shown[@]}"; do
      [ ! -e "$work/$file" ] || tail -n 40 "$work/$file" | cut -c 1-200 | sed 's/^/        /'
    done
  fi
}

# Prints the sum. Its status is 0 if every test passed.
report() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}

# run ARGUMENT…: runs a command of ingestd, and keeps its exit status in $status.
run() {
  timeout 60 "$ingestd" "$@" "${configured[@]}" > "$work/out" 2> "$work/err"
  status=$?
}

# launch [COMMAND…]: starts the gateway on simulated peripherals, through COMMAND if one is given.
launch() {
  # What an earlier gateway told is no answer, and the next one empties its files only when it comes to run.
  : > "$work/events" > "$work/run.err"
  "$@" "$simulated" run --radio simulated --events stdout --config "$work/ingestd.yaml" \
    > "$work/events" 2> "$work/run.err" &
  gateway=$!
}

# start [COMMAND…]: the same, and waits until its adapter is ready.
start() {
  launch "$@"
  until_told '"INGEST_EVENT":"adapter-ready"' "$work/events"
}

# stop [SIGNAL]: ends the gateway. Its status is the gateway's exit status.
stop() {
  local result
  kill "-${1:-TERM}" "$gateway" 2> /dev/null
  wait "$gateway" 2> /dev/null
  result=$?
  gateway=
  return $result
}

# until_told TEXT FILE [TIMES]: waits until a file has a text, in so many lines; fails after a minute. A program in the
# background makes its file when it comes to run: remove an earlier one first.
until_told() {
  local deadline=$((SECONDS + 60)) times
  until times=$(grep -c "$1" "$2" 2> /dev/null); [ "${times:-0}" -ge "${3:-1}" ]; do
    [ $SECONDS -lt $deadline ] || { echo "failed  never told: $1"; failed=$((failed + 1)); return 1; }
    sleep 0.1
  done
}

# begin_fake NAME ARGUMENT…: starts a fake of Tests/Support/Fakes. Its address is in $fake_url, its output in fake.out
# and fake.err below $work.
begin_fake() {
  rm -f "$work/fake.out"
  "Tests/Support/Fakes/$1.py" --port 0 "${@:2}" > "$work/fake.out" 2> "$work/fake.err" &
  fake=$!
  until_told listening "$work/fake.out"
  fake_url=$(sed -n 's/^listening on //p' "$work/fake.out")
}

end_fake() {
  kill "$fake"
  wait "$fake" 2> /dev/null
}
