# promtool of Debian's package prometheus; to be sourced after check.sh, in the project's folder. The tool alone: the
# package would start a server.
promtool=$PWD/.build/promtool/usr/bin/promtool
fetch_promtool() {
  [ -x "$promtool" ] && return
  mkdir -p .build/promtool
  (
    cd .build/promtool || exit
    flock ../../tools/install-packages \
      sh -c 'apt-get download -qq prometheus || { apt-get update -qq && apt-get download -qq prometheus; }' || exit
    dpkg-deb --fsys-tarfile prometheus_*.deb | tar --extract ./usr/bin/promtool
    rm -f prometheus_*.deb
  ) > "$work/out" 2>&1
}
fetch_promtool || { echo "promtool cannot be had" >&2; sed 's/^/        /' "$work/out" >&2; exit 1; }
