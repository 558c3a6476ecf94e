#define _GNU_SOURCE
#include "CBlueZ.h"

#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>

// What crosses to the kernel has the same form on every processor (net/bluetooth of Linux; linux/filter.h,
// linux/capability.h). libbluetooth's headers are a copy of the kernel's, and not its own.
#define LIES_AT(structure, member, offset) _Static_assert(offsetof(structure, member) == (offset), #structure "." #member)
#define MEASURES(structure, size) _Static_assert(sizeof(structure) == (size), #structure)
MEASURES(struct sockaddr_hci, 6);
LIES_AT(struct sockaddr_hci, hci_family, 0);
LIES_AT(struct sockaddr_hci, hci_dev, 2);
LIES_AT(struct sockaddr_hci, hci_channel, 4);
MEASURES(struct sockaddr_l2, 14);
LIES_AT(struct sockaddr_l2, l2_family, 0);
LIES_AT(struct sockaddr_l2, l2_psm, 2);
LIES_AT(struct sockaddr_l2, l2_bdaddr, 4);
LIES_AT(struct sockaddr_l2, l2_cid, 10);
LIES_AT(struct sockaddr_l2, l2_bdaddr_type, 12);
MEASURES(bdaddr_t, 6);
MEASURES(struct bt_security, 2);
LIES_AT(struct bt_security, level, 0);
MEASURES(struct sock_filter, 8);
LIES_AT(struct sock_filter, jt, 2);
LIES_AT(struct sock_filter, jf, 3);
LIES_AT(struct sock_filter, k, 4);
MEASURES(struct sock_fprog, 2 * sizeof(void *));
LIES_AT(struct sock_fprog, filter, sizeof(void *));
MEASURES(struct __user_cap_header_struct, 8);
LIES_AT(struct __user_cap_header_struct, pid, 4);
MEASURES(struct __user_cap_data_struct, 12);
LIES_AT(struct __user_cap_data_struct, permitted, 4);
LIES_AT(struct __user_cap_data_struct, inheritable, 8);

// The Attribute Protocol's fixed channel (Core Specification Vol 3 Part A 2.1).
enum { att_channel = 4 };

static int close_failed(int descriptor)
{
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int CBlueZ_open_management(void)
{
    int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
    if (descriptor < 0)
        return -1;
    struct sockaddr_hci address = {
        .hci_family = AF_BLUETOOTH, .hci_dev = HCI_DEV_NONE, .hci_channel = HCI_CHANNEL_CONTROL};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0)
        return close_failed(descriptor);
    /* Adverts of a busy place, while the process is held up. What the kernel grants is enough else. */
    int buffer = 1 << 20;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
    return descriptor;
}

static struct sockaddr_l2 att_address(const uint8_t octets[6], uint8_t type)
{
    struct sockaddr_l2 address = {
        .l2_family = AF_BLUETOOTH, .l2_cid = htobs(att_channel), .l2_bdaddr_type = type};
    memcpy(address.l2_bdaddr.b, octets, sizeof address.l2_bdaddr.b);
    return address;
}

int CBlueZ_open_att(const uint8_t adapter[6], uint8_t adapter_type)
{
    int descriptor = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (descriptor < 0)
        return -1;
    struct sockaddr_l2 address = att_address(adapter, adapter_type);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0)
        return close_failed(descriptor);
    return descriptor;
}

int CBlueZ_connect_att(int descriptor, const uint8_t device[6], uint8_t device_type)
{
    struct sockaddr_l2 address = att_address(device, device_type);
    return connect(descriptor, (struct sockaddr *)&address, sizeof address);
}

int CBlueZ_require_encryption(int descriptor)
{
    struct bt_security security = {.level = BT_SECURITY_MEDIUM};
    return setsockopt(descriptor, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security);
}

int CBlueZ_is_encrypted(int descriptor)
{
    struct bt_security security;
    socklen_t length = sizeof security;
    if (getsockopt(descriptor, SOL_BLUETOOTH, BT_SECURITY, &security, &length) < 0)
        return -1;
    return security.level >= BT_SECURITY_MEDIUM;
}

int CBlueZ_socket_error(int descriptor)
{
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
        return errno;
    return error;
}

int CBlueZ_attach_filter(int descriptor, const struct sock_filter *instructions, uint16_t count)
{
    // The kernel only reads it.
    struct sock_fprog program = {.len = count, .filter = (struct sock_filter *)instructions};
    return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

int CBlueZ_detach_filter(int descriptor)
{
    int unused = 0;
    return setsockopt(descriptor, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
}

static struct __user_cap_header_struct this_thread(void)
{
    return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3};
}

bool CBlueZ_has_net_admin(void)
{
    struct __user_cap_header_struct header = this_thread();
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, sets) < 0)
        return false;
    return sets[CAP_TO_INDEX(CAP_NET_ADMIN)].effective & CAP_TO_MASK(CAP_NET_ADMIN);
}

int CBlueZ_thread_count(void)
{
    struct stat tasks;
    if (stat("/proc/self/task", &tasks) < 0)
        return -1;
    // One link each for the folder's name, for ".", and for every thread's folder.
    return (int)tasks.st_nlink - 2;
}

int CBlueZ_drop_capabilities(void)
{
    struct __user_cap_header_struct header = this_thread();
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return -1;
    if (syscall(SYS_capset, &header, none) < 0)
        return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
