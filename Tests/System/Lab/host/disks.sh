# The guest's disks: the image of each platform, which is kept, and those made for one run.

# The last is Debian 12 with the newest kernel that crashes when the socket of a link is closed (image/kernel.sh).
platforms=(debian13 debian12 debian12-bad-kernel)

image_hash() {
  (cd "$lab/image" && sha256sum ./*) | sha256sum | cut -c 1-12
}

# need_image PLATFORM: builds the platform's image if it is missing, sets $image, and says what is in it.
need_image() {
  image=$cache/$1/$(image_hash)
  if [ ! -f "$image/complete" ]; then
    echo "lab: building the image of $1, once"
    rm -rf "${cache:?}/$1"
    mkdir -p "$cache/$1"
    "$lab/image/build" "$image.part" "$1" > "$cache/$1.log" 2>&1 ||
      { tail -n 20 "$cache/$1.log"; fail "the image of $1 could not be built"; }
    mv "$image.part" "$image"
    touch "$image/complete"
  fi
  sed 's/^/lab: /' "$image/versions"
}

# need_platform NAME: fails if the lab has no such platform.
need_platform() {
  [[ " ${platforms[*]} " == *" $1 "* ]] || fail "there is no platform $1; the platforms are: ${platforms[*]}"
}

# The names of all cases: those of the layer, if there is one.
all_cases() {
  (cd "${LAYER:-$lab}/guest/cases" && printf '%s\n' [a-z]*.py) | sed 's/\.py$//'
}

# The same without those that need the package, or an earlier one, if there is none; and on a bad kernel without those that
# are not marked for it. QUICK leaves out the cases of the package, those that unit tests show as well, and those that are
# for `make prove` alone.
wanted_cases() {
  local name file
  for name in $(all_cases); do
    file=${LAYER:-$lab}/guest/cases/$name.py
    if [ -z "${package:-}" ] && grep -q '^NEEDS_P' "$file"; then continue; fi
    if [ -z "${PREVIOUS:-}" ] && grep -q '^NEEDS_PREVIOUS' "$file"; then continue; fi
    if [ "${platform:-}" = debian12-bad-kernel ] && ! grep -q '^ON_BAD_KERNEL' "$file"; then continue; fi
    if [ -n "${QUICK:-}" ] && grep -qE '^(NEEDS_P|SHOWN_BY_UNITS|PROVE_ONLY)' "$file"; then continue; fi
    echo "$name"
  done
}

# need_cases NAME…: fails if one of these is no case.
need_cases() {
  local name
  for name in "$@"; do
    [[ $'\n'$(all_cases)$'\n' == *$'\n'"$name"$'\n'* ]] ||
      fail "there is no case $name; the cases are:"$'\n'"$(all_cases | sed 's/^/  /')"
  done
}

# make_disks DIRECTORY: payload.img (cases and ingestd, read-only), results.img (a tar comes back on it) and state.img
# (the file system of /var/lib/ingestd).
make_disks() {
  fill_payload "$1/payload"
  cp -r "$lab/guest" "$1/payload/guest"
  cp "$root/Tests/Support/kit/tags.py" "$1/payload/guest/labkit/"
  cp "$root/tools/hardware-evidence" "$1/payload/"
  mkdir "$1/payload/docs"
  cp -r "$root"/docs/*.md "$root/docs/samples" "$1/payload/docs/"
  cp -r "$root/config/fleet" "$1/payload/fleet"
  [ -z "${LAYER:-}" ] || cp -r "$LAYER/." "$1/payload/"
  printf '%s\n' "${cases[@]}" > "$1/payload/cases"
  [ -z "${QUICK:-}" ] || touch "$1/payload/quick"
  make_payload_disk "$1"
  truncate --size 256M "$1/results.img"
  truncate --size 512M "$1/state.img"
  mkfs.ext4 -q "$1/state.img"
}

# fill_payload DIRECTORY: ingestd and what is installed with it, in payload/ of this directory.
fill_payload() {
  local payload=$1/payload
  mkdir -p "$payload/lib"
  strip --strip-debug -o "$payload/ingestd" "$INGESTD"
  chmod 755 "$payload/ingestd"
  ldd "$INGESTD" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | while read -r library; do
    in_image "$(basename "$library")" || strip --strip-debug -o "$payload/lib/$(basename "$library")" "$library"
  done
  cp "$root"/systemd/ingestd.service "$root"/systemd/ingestd.sysusers.conf "$payload/"
  cp "$root"/systemd/ingestd-import.{path,service} "$root"/systemd/ingestd.tmpfiles.conf "$payload/"
  if [ -n "${package:-}" ]; then fill_packages "$payload"; fi
  for optional in systemd/ingestd.catalog config/peripherals.yaml; do
    [ ! -f "$root/$optional" ] || cp "$root/$optional" "$payload/"
  done
}

# fill_packages PAYLOAD: the package under test, the same under an earlier number, and PREVIOUS if there is one.
fill_packages() {
  local tree
  mkdir -p "$1"/package/{first,newer}
  cp "$package" "$1/package/newer/"
  tree=$(mktemp -d)
  dpkg-deb --raw-extract "$package" "$tree"
  sed -i 's/^Version: .*/&~earlier/' "$tree/DEBIAN/control"
  dpkg-deb -Zgzip -z1 --root-owner-group --build "$tree" "$1/package/first/" > /dev/null
  rm -rf "$tree"
  if [ -n "${PREVIOUS:-}" ]; then
    mkdir "$1/package/previous"
    cp "$PREVIOUS" "$1/package/previous/" || fail "PREVIOUS: $PREVIOUS cannot be read"
  fi
}

# make_payload_disk DIRECTORY: payload.img out of payload/ in this directory.
make_payload_disk() {
  truncate --size $(($(du -sm "$1/payload" | cut -f 1) + 32))M "$1/payload.img"
  mkfs.ext4 -q -d "$1/payload" "$1/payload.img"
}

in_image() {
  grep -qxF "$1" "$image/libraries.txt"
}
