#ifndef CBLUEZ_H
#define CBLUEZ_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

// Opens the kernel's Bluetooth management channel, non-blocking. Returns the descriptor, or -1 with
// errno. Here because sockaddr_hci is a C struct behind a cast.
int CBlueZ_open_management(void);

// Opens an unconnected L2CAP socket for LE, bound to the adapter with this address (least
// significant octet first) on the fixed channel of ATT. Returns the descriptor, or -1 with errno.
int CBlueZ_open_att(const uint8_t adapter[6], uint8_t adapter_type);

// Starts connecting to a device's ATT channel. Returns 0, or -1 with errno (EINPROGRESS: under way).
int CBlueZ_connect_att(int descriptor, const uint8_t device[6], uint8_t device_type);

// Asks for an encrypted link (BT_SECURITY_MEDIUM) on an unconnected or connected socket.
int CBlueZ_require_encryption(int descriptor);

// Whether the link of a connected socket is encrypted now (BT_SECURITY): 1 or 0, or -1 with errno.
int CBlueZ_is_encrypted(int descriptor);

// The pending error of a socket (SO_ERROR), or errno of asking for it.
int CBlueZ_socket_error(int descriptor);

// Has the kernel run a program on each packet that comes, before it is queued (SO_ATTACH_FILTER). Returns 0, or -1 with
// errno. sock_fprog holds a pointer.
int CBlueZ_attach_filter(int descriptor, const struct sock_filter *instructions, uint16_t count);

// Takes that program away (SO_DETACH_FILTER). Returns 0, or -1 with errno: ENOENT where there is none.
int CBlueZ_detach_filter(int descriptor);

// Whether this thread's effective set holds CAP_NET_ADMIN. capget has no wrapper in glibc.
bool CBlueZ_has_net_admin(void);

// How many threads the process has, or -1 with errno.
int CBlueZ_thread_count(void);

// Empties this thread's ambient, inheritable, permitted and effective sets and forbids to gain
// privileges ever again. Returns 0, or -1 with errno. prctl and syscall are variadic.
int CBlueZ_drop_capabilities(void);

#endif
