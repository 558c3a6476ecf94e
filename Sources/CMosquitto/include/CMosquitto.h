#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <stdbool.h>
#include <stddef.h>

#include <mosquitto.h>

/*
 * One connection of libmosquitto that speaks MQTT 5 or 3.1.1, without its callbacks: what they tell is kept here and asked for.
 * It is used by one thread at a time, never connects again by itself, and knows nothing of threads.
 *
 * Functions that return int give 0 or one of the library's MOSQ_ERR_…
 */
typedef struct CMosquitto CMosquitto;

/* NULL without memory. What 3.1.1 does not have is left out: properties, and with them the largest packet. */
CMosquitto *CMosquitto_new(const char *client_id, bool is_3_1_1);

/* Ends the connection, without a word to the broker, and forgets everything. */
void CMosquitto_free(CMosquitto *client);

/* Each may be NULL. */
int CMosquitto_set_login(CMosquitto *client, const char *user, const char *password);

/* Files in PEM. Without authorities those of the system count; certificate and key may be NULL. */
int CMosquitto_set_tls(CMosquitto *client, const char *authorities, const char *certificate, const char *key);

/* What the broker publishes, retained, when the connection breaks. */
int CMosquitto_set_will(CMosquitto *client, const char *topic, const char *payload);

/* Begins to connect, by IPv4 alone where that is asked for. Looking up the name blocks. */
int CMosquitto_connect(CMosquitto *client, const char *host, int port, int keep_alive_s, bool by_ipv4);

/* Whether TCP stands. */
bool CMosquitto_has_peer(const CMosquitto *client);

/*
 * The largest packet that is asked for, in bytes: an answer has some, and a broker leaves out words that would not fit.
 * One that does not keep to it is read up to four times that, and the connection ended.
 */
enum { CMosquitto_largest = 64 << 10 };

/* Does what there is to do, for as long as milliseconds say; anything but 0 ends the connection. */
int CMosquitto_turn(CMosquitto *client, int milliseconds);

/* Queues a message of QoS 1; *number names it. */
int CMosquitto_publish(
    CMosquitto *client, const char *topic, const void *payload, size_t length, bool is_retained, int *number);

/* Of these many messages in a row the answers are remembered. */
enum { CMosquitto_window = 2048 };

/* The reason code of the PUBACK for a message; -1 before it came. A PUBACK of 3.1.1 has none, which is 0. */
int CMosquitto_answer(const CMosquitto *client, int number);

/* The reason code of CONNACK, in 3.1.1 its return code, and of a DISCONNECT of the broker's; -1 before they came. */
int CMosquitto_welcome(const CMosquitto *client);
int CMosquitto_farewell(const CMosquitto *client);

/* Whether the broker has closed the connection. */
bool CMosquitto_is_closed(const CMosquitto *client);

/* How often the broker wants to hear from us at least, in seconds: as asked for, unless its CONNACK says another. */
int CMosquitto_keep_alive(const CMosquitto *client);

/* errno after the call that failed last. */
int CMosquitto_errno(const CMosquitto *client);

/* The first error that the library logged, and the last Reason String of a PUBACK that refused a message since the last
 * one was queued; empty without. */
const char *CMosquitto_problem(const CMosquitto *client);
const char *CMosquitto_reason(const CMosquitto *client);

/* Tells the broker that the connection ends, with a reason code where the protocol has them. */
void CMosquitto_disconnect(CMosquitto *client, int reason);

#endif
