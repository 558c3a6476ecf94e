# The guest's kernel: fetch_kernel unpacks it in kernel/ and sets $version. `build` sources this file.

backports='Types: deb
URIs: http://deb.debian.org/debian
Suites: bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg'

# is_known_bad VERSION: Debian's kernels 6.1.187 to 6.1.192 free a connection's HCI channel twice if an L2CAP socket is
# closed after its link has ended (l2cap_conn_free after hci_chan_list_flush): "kernel BUG at lib/list_debug.c", as soon
# as a peer hangs up before its first answer.
is_known_bad() {
  dpkg --compare-versions "$1" ge 6.1.187 && dpkg --compare-versions "$1" lt 6.1.193~
}

# The kernel that kernel.txt names, or else the one of bookworm-backports. A known-bad one is never taken.
fetch_kernel() {
  local pinned package
  pinned=$(cat "$here/kernel.txt")
  rm -rf kernel apt && mkdir kernel
  if ! download_kernel "$pinned" && ! { apt-get update -qq && download_kernel "$pinned"; }; then
    echo "kernel: the archive has no $pinned any more: taking the kernel of bookworm-backports"
    if ! download_backport; then
      echo "kernel: neither $pinned nor the kernel of bookworm-backports can be had; name another in kernel.txt"
      return 1
    fi
  fi
  package=$(echo kernel/*.deb)
  if is_known_bad "$(dpkg-deb --field "$package" Version)"; then
    echo "kernel: $(dpkg-deb --show "$package" | tr '\t' ' ') crashes when a peer hangs up; name another in kernel.txt"
    return 1
  fi
  version=$(dpkg-deb --field "$package" Package)
  version=${version#linux-image-}
  dpkg -x "$package" kernel
  rm -rf "$package" apt
  depmod -b kernel "$version"
  cp "kernel/boot/vmlinuz-$version" vmlinuz
}

# download_kernel PACKAGE OPTION…: into kernel/, with these options of APT.
download_kernel() {
  (cd kernel && apt-get "${@:2}" download -q "$1")
}

# The newest kernel of bookworm-backports, into kernel/. APT sees this suite alone; the machine's own sources stay as
# they are.
download_backport() {
  local options package
  mkdir -p apt/lists/partial
  echo "$backports" > apt/backports.sources
  options=(-o "Dir::Etc::SourceList=$PWD/apt/backports.sources" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$PWD/apt/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
  apt-get "${options[@]}" update -qq || return
  package=$(apt-cache "${options[@]}" depends linux-image-amd64 | awk '/Depends: linux-image/ {print $2; exit}')
  [ -n "$package" ] && download_kernel "$package" "${options[@]}"
}
