"""An HTTPS server in front of the receiver, with a name and a certificate that the guest trusts."""

import contextlib
import datetime
import os
import socket
import ssl
import tempfile
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from . import receiver
from .package import read

HOSTS = "/etc/hosts"
# What update-ca-certificates writes: that takes minutes on a busy machine.
TRUSTED = "/etc/ssl/certs/ca-certificates.crt"
PORT = 443


@contextlib.contextmanager
def front(name):
    """Serves https://NAME/ by handing all to the receiver."""
    with tempfile.TemporaryDirectory() as directory:
        certificate, key = self_signed(name, directory)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        # Debian 12's image has none.
        hosts = read(HOSTS) if os.path.exists(HOSTS) else ""
        trusted = read(TRUSTED)
        listener = socket.create_server(("127.0.0.1", PORT))
        threading.Thread(target=accept, args=(listener, context), daemon=True).start()
        try:
            write(HOSTS, f"{hosts}127.0.0.1 {name}\n")
            write(TRUSTED, trusted + read(certificate))
            yield
        finally:
            # Closed alone it would stand as long as somebody is accepted there.
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            write(HOSTS, hosts)
            write(TRUSTED, trusted)


def self_signed(name, directory):
    """Files with a certificate for this name, and with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256()))
    paths = f"{directory}/certificate.pem", f"{directory}/key.pem"
    with open(paths[0], "wb") as file:
        file.write(certificate.public_bytes(serialization.Encoding.PEM))
    with open(paths[1], "wb") as file:
        file.write(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                     serialization.NoEncryption()))
    return paths


def accept(listener, context):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(connection, context), daemon=True).start()


def serve(connection, context):
    try:
        outside = context.wrap_socket(connection, server_side=True)
        inside = socket.create_connection(("127.0.0.1", receiver.PORT))
    except OSError:
        connection.close()
        return
    threading.Thread(target=hand_on, args=(outside, inside), daemon=True).start()
    hand_on(inside, outside)


def hand_on(source, target):
    try:
        while data := source.recv(65_536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
