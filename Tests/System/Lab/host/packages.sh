# What the lab needs on the machine that runs it (Debian 12).
install_missing_packages() {
  "$root/tools/install-packages" qemu-system-x86 mmdebstrap busybox-static cpio kmod e2fsprogs python3 python3-pip \
    binutils xz-utils
}
