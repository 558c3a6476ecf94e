#include "CMosquitto.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <mqtt_protocol.h>

struct CMosquitto {
    struct mosquitto *library;
    mosquitto_property *properties;
    int welcome, farewell, keep_alive, error;
    char problem[256], reason[512];
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
}

/* Keys have no passphrase. Without this OpenSSL would ask on the terminal. */
static int no_passphrase(char *buffer, int size, int is_writing, void *client)
{
    (void)buffer, (void)size, (void)is_writing, (void)client;
    return 0;
}

CMosquitto *CMosquitto_new(const char *client_id)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    CMosquitto *client = calloc(1, sizeof *client);
    if (!client)
        return NULL;
    client->welcome = client->farewell = -1;
    memset(client->answers, 0xFF, sizeof client->answers);
    client->library = mosquitto_new(client_id, true, client);
    if (!client->library ||
        mosquitto_property_add_byte(&client->properties, MQTT_PROP_PAYLOAD_FORMAT_INDICATOR, 1) ||
        mosquitto_property_add_string(&client->properties, MQTT_PROP_CONTENT_TYPE, "application/json")) {
        CMosquitto_free(client);
        return NULL;
    }
    mosquitto_int_option(client->library, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
    mosquitto_int_option(client->library, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_connect_v5_callback_set(client->library, welcomed);
    mosquitto_disconnect_v5_callback_set(client->library, ended);
    mosquitto_publish_v5_callback_set(client->library, answered);
    mosquitto_log_callback_set(client->library, logged);
    return client;
}

void CMosquitto_free(CMosquitto *client)
{
    mosquitto_destroy(client->library);
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

int CMosquitto_connect(CMosquitto *client, const char *host, int port, int keep_alive_s, bool by_ipv4)
{
    client->keep_alive = keep_alive_s;
    errno = 0;
    int result =
        mosquitto_connect_bind_async(client->library, host, port, keep_alive_s, by_ipv4 ? "0.0.0.0" : NULL);
    note(client, result);
    int descriptor = mosquitto_socket(client->library);
    if (descriptor >= 0)
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return result;
}

bool CMosquitto_has_peer(const CMosquitto *client)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    return getpeername(mosquitto_socket(client->library), (struct sockaddr *)&address, &length) == 0;
}

int CMosquitto_turn(CMosquitto *client, int milliseconds)
{
    errno = 0;
    int result = note(client, mosquitto_loop(client->library, milliseconds, 1));
    /* After the broker's DISCONNECT all is well, but for the connection. */
    return result == 0 && mosquitto_socket(client->library) < 0 ? MOSQ_ERR_CONN_LOST : result;
}

int CMosquitto_publish(
    CMosquitto *client, const char *topic, const void *payload, size_t length, bool is_retained, int *number)
{
    errno = 0;
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

int CMosquitto_keep_alive(const CMosquitto *client) { return client->keep_alive; }

int CMosquitto_errno(const CMosquitto *client) { return client->error; }

const char *CMosquitto_problem(const CMosquitto *client) { return client->problem; }

const char *CMosquitto_reason(const CMosquitto *client) { return client->reason; }

void CMosquitto_disconnect(CMosquitto *client, int reason)
{
    mosquitto_disconnect_v5(client->library, reason, NULL);
}
