"""Canaille (with Authlib) as a process, with orders on standard input: a line of JSON each, answered by one.

python -m oauth.issuer PORT DATABASE LIFETIME, where tokens hold so many seconds."""

import json
import sys
import threading

from authlib.oauth2.rfc6749 import ClientCredentialsGrant
from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from joserfc.jwk import RSAKey
from joserfc.jws import JWSRegistry

SCOPE = "readings"
# What the resource server is called, which is made first.
RESOURCE = "clinic"


# Those of SMART, which its library takes only where it is told to.
JWSRegistry.recommended += ["RS384", "ES384"]
# Canaille lets clients with keys use its other grants alone. Who checks their assertions is its library, Authlib.
ClientCredentialsGrant.TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_assertion_jwt"]


def configuration(port, database, lifetime):
    return {
        "SECRET_KEY": "for these tests alone, in this process",
        "SERVER_NAME": f"127.0.0.1:{port}",
        "PREFERRED_URL_SCHEME": "http",
        "CANAILLE": {"DATABASE": "sql", "JAVASCRIPT": False},
        "CANAILLE_SQL": {"DATABASE_URI": f"sqlite:///{database}"},
        "CANAILLE_OIDC": {"ACTIVE_JWKS": [RSAKey.generate_key(2048).as_dict(private=True)]},
        "OAUTH2_TOKEN_EXPIRES_IN": {"client_credentials": lifetime},
    }


def client(name, secret=None, jwks=None):
    """Makes a client, or gives it other keys."""
    found = Backend.instance.query(models.Client, client_id=name)
    made = found[0] if found else models.Client(
        client_id=name, client_name=name, grant_types=["client_credentials"], scope=[SCOPE],
        redirect_uris=[f"http://127.0.0.1/{name}"],
        token_endpoint_auth_method="client_secret_basic" if secret else "private_key_jwt")
    made.client_secret = secret
    made.jwks = json.dumps(jwks) if jwks else None
    # Who may ask about its tokens.
    made.audience = Backend.instance.query(models.Client, client_id=RESOURCE)
    Backend.instance.save(made)


def revoke():
    """Ends every token that holds."""
    for token in Backend.instance.query(models.Token):
        Backend.instance.delete(token)


def main():
    port, database, lifetime = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    app = create_app(configuration(port, database, lifetime))
    threading.Thread(target=lambda: app.run(port=port, threaded=True), daemon=True).start()
    orders = {"client": client, "revoke": revoke}
    for line in sys.stdin:
        order = json.loads(line)
        with app.app_context():
            orders[order.pop("do")](**order)
        print("done", flush=True)


main()
