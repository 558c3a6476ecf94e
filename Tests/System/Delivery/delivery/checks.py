"""What `ingestd check` says of the files that a destination's TLS needs, and of the way to it."""

from kit.gateway import check, configuration, expect_equal

# The key that the libraries of Standard Webhooks are tested with.
SIGNING_KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def findings(world):
    """Keys of a destination; the exit status; what is said of it."""
    made = world.certificates
    url = {"url": "https://clinic.example/"}
    certificate, key = map(str, made.client)
    text = world.file("text.pem", "no certificate\n")
    open_key = world.file("open.key", copy=key, mode=0o644)
    missing = str(world.directory / "missing")
    good_keys = world.file("signing.keys", f"{SIGNING_KEY}\n{SIGNING_KEY[6:]}\n")
    no_key = world.file("no-signing.key", "s3cret-phrase")
    return {
        "good": ({"ca_file": str(made.authority.path), "client_certificate": certificate, "client_key": key}, 0, []),
        "missing": ({"ca_file": missing, "client_certificate": missing, "client_key": key}, 78, [
            f"ca_file: {missing}: there is no such file",
            f"client_certificate: credential {missing}: there is no such file"]),
        "not-pem": ({"ca_file": text, "client_certificate": text, "client_key": key}, 78, [
            f"ca_file: {text}: expected certificates in PEM", f"client_certificate: {text}: expected certificates in PEM"]),
        "no-key": ({"client_certificate": certificate, "client_key": certificate}, 78, [
            f"client_key: warning: {certificate} is readable for everybody; chmod o-r it",
            f"client_key: {certificate}: expected a private key in PEM"]),
        "other-key": ({"client_certificate": certificate, "client_key": str(made.other_client[1])}, 78, [
            f"client_key: {made.other_client[1]}: the key does not belong to the certificate in {certificate}"]),
        "passphrase": ({"client_certificate": certificate, "client_key": str(made.protected_key)}, 78, [
            f"client_key: {made.protected_key}: the key is protected by a passphrase; store it without one (openssl pkey)"]),
        "open-key": ({"client_certificate": certificate, "client_key": open_key}, 0, [
            f"client_key: warning: {open_key} is readable for everybody; chmod o-r it"]),
        "directory": ({"ca_file": str(world.directory)}, 78, [
            f"ca_file: {world.directory}: expected a regular file of at most 1 MiB"]),
        "named-credentials": ({"client_certificate": "box-certificate", "client_key": "box-key"}, 0, []),
        "proxy-path": ({"proxy": "http://proxy.example:3128/x"}, 78, [
            "proxy: expected a proxy's host and port with nothing behind them, as http://proxy.example:3128"]),
        "proxy-password": ({"proxy": "http://me:s3cret-phrase@proxy.example:3128"}, 78, [
            "proxy: expected a URL without user and password; use credential"]),
        "proxy-elsewhere": ({"url": "http://localhost/", "proxy": "http://proxy.example:3128"}, 78, [
            "proxy: expected a proxy on this machine: http:// in url goes no further"]),
        "proxy-to-address": ({"url": "https://192.0.2.7/", "proxy": "socks5://proxy.example"}, 78, [
            "proxy: expected a host name in url, not an address: it is what the certificate is for"]),
        "signing-key": ({"signing_key": good_keys}, 0, []),
        "signing-key-missing": ({"signing_key": missing}, 78, [
            f"signing_key: credential {missing}: there is no such file"]),
        "signing-key-wrong": ({"signing_key": no_key}, 78, [
            f"signing_key: credential {no_key}: expected one to four signing keys, each 24 to 64 bytes in base64, "
            "with or without whsec_ in front"]),
        "header-of-signature": ({"headers": {"Webhook-Id": "7"}}, 78, [
            "headers.Webhook-Id: this header is the gateway's own"]),
        "header-of-ours": ({"headers": {"Expect": "100-continue"}}, 78, [
            "headers.Expect: this header is the gateway's own"]),
    }


def run(world, name, keys, status, expected):
    file = world.directory / f"check-{name}.yaml"
    file.write_text(configuration({"clinic": {"url": "https://clinic.example/", **keys}}))
    found = check(file, {"CREDENTIALS_DIRECTORY": ""})
    # Each line begins with its place, LINE:COLUMN, and the key's path.
    words = [line.split(": ", 1)[1].removeprefix("destinations[0].") for line in found[1]]
    expect_equal((found[0], words), (status, expected), "check")
