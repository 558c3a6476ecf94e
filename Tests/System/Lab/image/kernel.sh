# The guest's kernel: fetch_kernel unpacks it in kernel/ and sets $version, the name of its folder of
# modules, and $kernel_package, the version of its package. `build` sources this file.

# is_known_bad VERSION: Debian's kernels 6.1.187 to 6.1.192 free a connection's HCI channel twice if an L2CAP socket is
# closed after its link has ended (l2cap_conn_free after hci_chan_list_flush): "kernel BUG at lib/list_debug.c", as soon
# as a peer hangs up before its first answer.
is_known_bad() {
  dpkg --compare-versions "$1" ge 6.1.187 && dpkg --compare-versions "$1" lt 6.1.193~
}

# fetch_kernel PLATFORM: the newest kernel of the platform's archive that is good, or for debian12-bad-kernel the newest
# that is known to be bad.
fetch_kernel() {
  local series wanted=good package
  case $1 in
    # The default kernel, or if the archive has no good one of it, the newer one that it has beside it.
    debian12) series=('^linux-image-6[.]1[.]0-[0-9]+-amd64$' '^linux-image-[0-9.]+[+]deb12-amd64$') ;;
    debian12-bad-kernel) series=('^linux-image-6[.]1[.]0-[0-9]+-amd64$') wanted=bad ;;
    debian13) series=('^linux-image-[0-9.]+[+]deb13-amd64$') ;;
  esac
  use_archive
  package=$(newest_kernel "$wanted" "${series[@]}")
  [ -n "$package" ] || { echo "kernel: the archive of $suite has no $wanted kernel for $1"; return 1; }
  rm -rf kernel && mkdir kernel
  (cd kernel && apt-get "${apt[@]}" download -q "${package/ /=}")
  kernel_package=${package#* }
  version=${package% *}
  version=${version#linux-image-}
  dpkg -x kernel/*.deb kernel
  rm -rf kernel/*.deb archive
  # The packages of Debian 13 have no /lib.
  [ -e kernel/lib ] || ln -s usr/lib kernel/lib
  depmod -b kernel "$version"
  cp "kernel/boot/vmlinuz-$version" vmlinuz
}

# newest_kernel good|bad PATTERN…: name and version of the newest such package of the first series that has one.
newest_kernel() {
  local series name number
  for series in "${@:2}"; do
    while read -r name number; do
      if is_known_bad "$number"; then [ "$1" = bad ] || continue; else [ "$1" = good ] || continue; fi
      echo "$name $number"
      return
    done < <(apt-cache "${apt[@]}" dumpavail |
      awk -v series="$series" '$1 == "Package:" { name = $2 } $1 == "Version:" && name ~ series { print name, $2 }' |
      sort --version-sort --key=2 --reverse)
  done
}

# Lets APT see the suite's archive alone, by the options $apt; the machine's own sources stay as they are.
use_archive() {
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg
  mkdir -p archive/lists/partial
  cat > archive/debian.sources <<END
Types: deb
URIs: http://deb.debian.org/debian
Suites: $suite $suite-updates
Components: main
Signed-By: $keys

Types: deb
URIs: http://deb.debian.org/debian-security
Suites: $suite-security
Components: main
Signed-By: $keys
END
  apt=(-o "Dir::Etc::SourceList=$PWD/archive/debian.sources" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$PWD/archive/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
  apt-get "${apt[@]}" update -qq
}
