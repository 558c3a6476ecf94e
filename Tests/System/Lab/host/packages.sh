# What the lab needs on the machine that runs it (Debian 12), by command and package.

declare -A package_of=(
  [qemu-system-x86_64]=qemu-system-x86 [mmdebstrap]=mmdebstrap [busybox]=busybox-static [cpio]=cpio
  [modprobe]=kmod [mkfs.ext4]=e2fsprogs [python3]=python3 [pip3]=python3-pip [strip]=binutils [xz]=xz-utils)

install_missing_packages() {
  local command missing=()
  for command in "${!package_of[@]}"; do
    command -v "$command" > /dev/null || missing+=("${package_of[$command]}")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "lab: installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "${missing[@]}" > /dev/null
  fi
}
