#define _GNU_SOURCE
#include "CMosquitto.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mqtt_protocol.h>

/* What is read of the broker at once, and at most before a packet of it is whole or TLS stands, in bytes. */
enum { piece = 16 << 10, most_unread = 256 << 10 };

struct CMosquitto {
    struct mosquitto *library;
    mosquitto_property *properties;
    int welcome, farewell, keep_alive, error;
    char problem[256], reason[512];
    /* The connection, and our end of what the library has in its place; -1 before TCP stands. */
    int network, inner;
    /* An assertion of the library's has failed: nothing is done with it any more. */
    bool is_void;
    bool is_3_1_1;
    /* Nothing more comes, and the errno where that is for another reason than its end. */
    bool is_over;
    int broken;
    /* What came since the last whole packet, in bytes. */
    size_t unread;
    /* What of the library's has not gone out. */
    char out[piece];
    size_t out_length, out_sent;
    /* By number modulo the window; -1 is no answer yet. */
    int16_t answers[CMosquitto_window];
};

static void set_up(void)
{
    /* write(2) on a connection that is gone would raise it, in the library as in OpenSSL. */
    signal(SIGPIPE, SIG_IGN);
    mosquitto_lib_init();
}

static void copy(char *to, size_t size, const char *from)
{
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = 0;
}

static void welcomed(struct mosquitto *library, void *client, int reason, int flags, const mosquitto_property *all)
{
    (void)library, (void)flags;
    CMosquitto *self = client;
    uint16_t keep_alive;
    if (mosquitto_property_read_int16(all, MQTT_PROP_SERVER_KEEP_ALIVE, &keep_alive, false))
        self->keep_alive = keep_alive;
    self->welcome = reason;
}

static void ended(struct mosquitto *library, void *client, int reason, const mosquitto_property *all)
{
    (void)library, (void)all;
    /* The library uses the same call for errors of its own, whose numbers are lower. */
    if (reason >= 0x80)
        ((CMosquitto *)client)->farewell = reason;
}

static void answered(struct mosquitto *library, void *client, int number, int reason, const mosquitto_property *all)
{
    (void)library;
    CMosquitto *self = client;
    self->answers[number % CMosquitto_window] = (int16_t)reason;
    /* Lower ones are of messages that were taken. */
    if (reason < 0x80)
        return;
    char *words = NULL;
    if (mosquitto_property_read_string(all, MQTT_PROP_REASON_STRING, &words, false) && words)
        copy(self->reason, sizeof self->reason, words);
    free(words);
}

static void logged(struct mosquitto *library, void *client, int level, const char *words)
{
    (void)library;
    CMosquitto *self = client;
    /* Less severe ones name topics. */
    if (level == MOSQ_LOG_ERR && !self->problem[0])
        copy(self->problem, sizeof self->problem, words);
    /* The one word of packets that answer nothing, such as PINGRESP. */
    if (level == MOSQ_LOG_DEBUG && strstr(words, " received "))
        self->unread = 0;
}

/* Keys have no passphrase. Without this OpenSSL would ask on the terminal. */
static int no_passphrase(char *buffer, int size, int is_writing, void *client)
{
    (void)buffer, (void)size, (void)is_writing, (void)client;
    return 0;
}

CMosquitto *CMosquitto_new(const char *client_id, bool is_3_1_1)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    CMosquitto *client = calloc(1, sizeof *client);
    if (!client)
        return NULL;
    client->welcome = client->farewell = client->network = client->inner = -1;
    memset(client->answers, 0xFF, sizeof client->answers);
    client->is_3_1_1 = is_3_1_1;
    client->library = mosquitto_new(client_id, true, client);
    if (!client->library ||
        (!is_3_1_1 &&
         (mosquitto_property_add_byte(&client->properties, MQTT_PROP_PAYLOAD_FORMAT_INDICATOR, 1) ||
          mosquitto_property_add_string(&client->properties, MQTT_PROP_CONTENT_TYPE, "application/json")))) {
        CMosquitto_free(client);
        return NULL;
    }
    mosquitto_int_option(
        client->library, MOSQ_OPT_PROTOCOL_VERSION, is_3_1_1 ? MQTT_PROTOCOL_V311 : MQTT_PROTOCOL_V5);
    mosquitto_int_option(client->library, MOSQ_OPT_TCP_NODELAY, 1);
    /* Nothing is subscribed to; more than one message of QoS 1 or 2 at a time would be kept until they are settled. */
    mosquitto_int_option(client->library, MOSQ_OPT_RECEIVE_MAXIMUM, 1);
    mosquitto_connect_v5_callback_set(client->library, welcomed);
    mosquitto_disconnect_v5_callback_set(client->library, ended);
    mosquitto_publish_v5_callback_set(client->library, answered);
    mosquitto_log_callback_set(client->library, logged);
    return client;
}

void CMosquitto_free(CMosquitto *client)
{
    mosquitto_destroy(client->library);
    if (client->network >= 0) {
        close(client->network);
        close(client->inner);
    }
    mosquitto_property_free_all(&client->properties);
    free(client);
}

int CMosquitto_set_login(CMosquitto *client, const char *user, const char *password)
{
    return mosquitto_username_pw_set(client->library, user, password);
}

int CMosquitto_set_tls(CMosquitto *client, const char *authorities, const char *certificate, const char *key)
{
    const char *system = authorities ? NULL : "/etc/ssl/certs";
    return mosquitto_tls_set(client->library, authorities, system, certificate, key, no_passphrase);
}

int CMosquitto_set_will(CMosquitto *client, const char *topic, const char *payload)
{
    return mosquitto_will_set_v5(client->library, topic, (int)strlen(payload), payload, 1, true, NULL);
}

/* Keeps what the errno of a call was. */
static int note(CMosquitto *client, int result)
{
    client->error = errno;
    return result;
}

/*
 * Announces the largest packet that is taken. The library has no other way to give CONNECT properties than this call,
 * which would block: it keeps them, and does no more, because there is no such port.
 */
static void announce(CMosquitto *client, const char *host, int keep_alive_s)
{
    mosquitto_property *properties = NULL;
    mosquitto_property_add_int32(&properties, MQTT_PROP_MAXIMUM_PACKET_SIZE, CMosquitto_largest);
    mosquitto_connect_bind_v5(client->library, host, -1, keep_alive_s, NULL, properties);
    mosquitto_property_free_all(&properties);
}

int CMosquitto_connect(CMosquitto *client, const char *host, int port, int keep_alive_s, bool by_ipv4)
{
    client->keep_alive = keep_alive_s;
    if (!client->is_3_1_1)
        announce(client, host, keep_alive_s);
    errno = 0;
    /*
     * Otherwise the library would write CONNECT in this call, which finishes a TLS handshake. A broker that refuses the
     * client certificate may have reset the connection by then: the write fails, and the library never reads the alert
     * that says why. Now it writes in turns, when the connection has been taken over.
     */
    mosquitto_threaded_set(client->library, true);
    int result =
        mosquitto_connect_bind_async(client->library, host, port, keep_alive_s, by_ipv4 ? "0.0.0.0" : NULL);
    note(client, result);
    mosquitto_threaded_set(client->library, false);
    int descriptor = mosquitto_socket(client->library);
    if (descriptor >= 0)
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return result;
}

bool CMosquitto_has_peer(const CMosquitto *client)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    int descriptor = client->network < 0 ? mosquitto_socket(client->library) : client->network;
    return getpeername(descriptor, (struct sockaddr *)&address, &length) == 0;
}

/*
 * The library makes room for a packet as its header says, up to 268 MB, and reads all of it, whatever was announced.
 * So it gets one end of a pair of sockets in place of the connection, and through that what comes, counted.
 */
static int take_over(CMosquitto *client)
{
    int descriptor = mosquitto_socket(client->library), pair[2];
    int network = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (network < 0)
        return note(client, MOSQ_ERR_ERRNO);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0) {
        note(client, MOSQ_ERR_ERRNO);
        close(network);
        return MOSQ_ERR_ERRNO;
    }
    dup3(pair[0], descriptor, O_CLOEXEC);
    close(pair[0]);
    client->network = network;
    client->inner = pair[1];
    return 0;
}

/* Sends on what the library has written. What fails here is seen where the connection is read. */
static bool send_on(CMosquitto *client)
{
    if (client->out_sent == client->out_length) {
        ssize_t count = recv(client->inner, client->out, piece, MSG_DONTWAIT);
        if (count <= 0)
            return false;
        client->out_length = (size_t)count;
        client->out_sent = 0;
    }
    ssize_t count = send(
        client->network, client->out + client->out_sent, client->out_length - client->out_sent,
        MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    client->out_sent = count < 0 ? client->out_length : client->out_sent + (size_t)count;
    return true;
}

/* Where this thread goes on when an assertion of the library's fails; NULL while the library is not at work. */
static _Thread_local jmp_buf *assertion_exit;

/*
 * Debian builds libmosquitto 2.0.11 with its assertions, and a broker can make one fail: a property of MQTT that the library
 * does not know has it log without a client (property__read in lib/property_mosq.c, log__printf in lib/logging_mosq.c;
 * later versions do not). A failed assertion calls this function, which the dynamic linker finds here before glibc's own.
 * The connection ends in place of the process. All other assertions of the process end as usual.
 */
__attribute__((noreturn, visibility("default"))) void
__assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
    if (assertion_exit)
        longjmp(*assertion_exit, 1);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
    abort();
}

/* mosquitto_loop without waiting. What the library reads is a broker's, and is read here alone. */
static int run_library(CMosquitto *client)
{
    jmp_buf here;
    if (client->is_void)
        return MOSQ_ERR_MALFORMED_PACKET;
    if (setjmp(here)) {
        assertion_exit = NULL;
        client->is_void = true;
        return MOSQ_ERR_MALFORMED_PACKET;
    }
    assertion_exit = &here;
    errno = 0;
    int result = note(client, mosquitto_loop(client->library, 0, 1));
    assertion_exit = NULL;
    return result;
}

/* Has the library work, without waiting, until it has no more to say. */
static int work(CMosquitto *client)
{
    int result;
    do
        result = run_library(client);
    while (send_on(client) && result == 0);
    if (result == MOSQ_ERR_CONN_LOST && client->broken) {
        client->error = client->broken;
        return MOSQ_ERR_ERRNO;
    }
    /* After the broker's DISCONNECT all is well, but for the connection. */
    return result == 0 && mosquitto_socket(client->library) < 0 ? MOSQ_ERR_CONN_LOST : result;
}

/* Hands a piece of what has come to the library. */
static int hand_over(CMosquitto *client)
{
    /* Writable is what has room for four times as much as it holds (unix_writable in Linux). */
    struct pollfd inner = {client->inner, POLLOUT, 0};
    if (poll(&inner, 1, 0) != 1 || !(inner.revents & POLLOUT))
        return 0;
    char block[piece];
    ssize_t count = recv(client->network, block, sizeof block, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (count <= 0) {
        /* The library reads what is there still. */
        client->is_over = true;
        client->broken = count < 0 && errno != ECONNRESET ? errno : 0;
        shutdown(client->inner, SHUT_WR);
        return 0;
    }
    /* A broker's small answers may wait in its kernel until ours has acknowledged the one before (RFC 896): at once, and not
     * after the 40 ms for which an acknowledgement waits for something to go with it (TCP_QUICKACK in tcp(7)). */
    setsockopt(client->network, IPPROTO_TCP, TCP_QUICKACK, &(int){1}, sizeof(int));
    client->unread += (size_t)count;
    if (client->unread > most_unread)
        return MOSQ_ERR_OVERSIZE_PACKET;
    return send(client->inner, block, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL) == count ? 0 : MOSQ_ERR_NOMEM;
}

int CMosquitto_turn(CMosquitto *client, int milliseconds)
{
    int result;
    if (client->network < 0) {
        struct pollfd pending = {mosquitto_socket(client->library), POLLOUT, 0};
        if (pending.fd < 0)
            return MOSQ_ERR_NO_CONN;
        if (poll(&pending, 1, milliseconds) == 0)
            return 0;
        /* The library finds out why there is no connection. */
        if (!CMosquitto_has_peer(client))
            return run_library(client);
        return (result = take_over(client)) ? result : work(client);
    }
    if ((result = work(client)))
        return result;
    bool is_behind = client->out_sent < client->out_length;
    struct pollfd either[] = {
        {client->network, (client->is_over ? 0 : POLLIN) | (is_behind ? POLLOUT : 0), 0},
        /* What the library has not read. */
        {mosquitto_socket(client->library), POLLIN, 0},
    };
    poll(either, 2, milliseconds);
    if (!client->is_over && (result = hand_over(client)))
        return result;
    return work(client);
}

int CMosquitto_publish(
    CMosquitto *client, const char *topic, const void *payload, size_t length, bool is_retained, int *number)
{
    errno = 0;
    /* What was said of others is none of its. */
    client->reason[0] = 0;
    int result = note(
        client,
        mosquitto_publish_v5(
            client->library, number, topic, (int)length, payload, 1, is_retained, client->properties));
    if (result == 0)
        client->answers[*number % CMosquitto_window] = -1;
    return result;
}

int CMosquitto_answer(const CMosquitto *client, int number)
{
    return client->answers[number % CMosquitto_window];
}

int CMosquitto_welcome(const CMosquitto *client) { return client->welcome; }

int CMosquitto_farewell(const CMosquitto *client) { return client->farewell; }

bool CMosquitto_is_closed(const CMosquitto *client) { return client->is_over && !client->broken; }

int CMosquitto_keep_alive(const CMosquitto *client) { return client->keep_alive; }

int CMosquitto_errno(const CMosquitto *client) { return client->error; }

const char *CMosquitto_problem(const CMosquitto *client) { return client->problem; }

const char *CMosquitto_reason(const CMosquitto *client) { return client->reason; }

void CMosquitto_disconnect(CMosquitto *client, int reason)
{
    if (client->is_void)
        return;
    mosquitto_disconnect_v5(client->library, reason, NULL);
    if (client->network >= 0)
        while (send_on(client))
            ;
}
