"""The files of a RabbitMQ node. docs/fleet.md shows the same settings."""

import json

BROKER_CONFIGURATION = """
# MQTT over TLS alone; a client's user is the name in its certificate.
listeners.tcp = none
mqtt.listeners.tcp = none
mqtt.listeners.ssl.default = 8883
ssl_options.cacertfile = /etc/rabbitmq/authority.pem
ssl_options.certfile = /etc/rabbitmq/broker.crt
ssl_options.keyfile = /etc/rabbitmq/broker.key
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = true
ssl_cert_login_from = common_name
mqtt.ssl_cert_login = true
anonymous_login_user = none
# The readers' sessions: on the disks of most nodes before PUBACK, and for as long as the reader asks for.
mqtt.durable_queue_type = quorum
mqtt.max_session_expiry_interval_seconds = infinity
mqtt.prefetch = 500
cluster_formation.peer_discovery_backend = classic_config
NODES
cluster_partition_handling = pause_minority
prometheus.tcp.port = 15692
management_agent.disable_metrics_collector = true
vm_memory_high_watermark.absolute = 2GB
disk_free_limit.absolute = 100MB
# Files of 64 MB instead of 512, for the small disks here.
raft.wal_max_size_bytes = 67108864
log.file = /var/log/rabbitmq/node.log
log.file.level = info
"""


def broker_configuration(names):
    nodes = "\n".join(f"cluster_formation.classic_config.nodes.{number} = rabbit@{name}"
                      for number, name in enumerate(names, 1))
    return BROKER_CONFIGURATION.replace("NODES", nodes)


def definitions(publishers, readers):
    """Users, and what they may do. A publisher writes under its own name alone; nobody has a password."""
    def user(name):
        return {"name": name, "password_hash": "", "hashing_algorithm": "rabbit_password_hashing_sha256", "tags": []}

    session = "^mqtt-subscription-.*$"
    permissions = [{"user": name, "vhost": "/", "configure": "^$", "write": "^amq\\.topic$", "read": "^$"}
                   for name in publishers]
    permissions += [{"user": name, "vhost": "/", "configure": session, "write": session,
                     "read": "^(amq\\.topic|mqtt-subscription-.*)$"} for name in readers]
    topics = [{"user": name, "vhost": "/", "exchange": "amq.topic", "read": "^$",
               "write": "^(ingestd\\.{username}\\..*|status\\.{username})$"} for name in publishers]
    return json.dumps({
        "vhosts": [{"name": "/"}],
        "users": [user(name) for name in [*publishers, *readers]],
        "permissions": permissions,
        "topic_permissions": topics,
        # Without it a message that its reader has not acknowledged after 20 deliveries is dropped.
        "policies": [{"vhost": "/", "name": "sessions", "pattern": "^mqtt-subscription-", "apply-to": "quorum_queues",
                      "priority": 0, "definition": {"delivery-limit": -1}}],
    })


BALANCER = """
global
  maxconn 8000
defaults
  mode tcp
  timeout connect 2s
  timeout client 10m
  timeout server 10m
  option redispatch
listen mqtt
  bind 127.0.0.1:8883
  balance leastconn
  # The port without TLS, whose connections end with those of MQTT.
  default-server check port 15692 inter 1s fall 2 rise 2 on-marked-down shutdown-sessions
"""


def balancer_configuration(addresses):
    servers = "\n".join(f"  server {name} {address}:8883" for name, address in addresses.items())
    return BALANCER + servers + "\n"
