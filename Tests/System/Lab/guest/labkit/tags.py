"""The tags by which the journal names records: from the other side, by the key in the service's state directory."""

import hashlib
import hmac

KEY_FILE = "/var/lib/ingestd/tag-key"


def tag(record_id):
    """The first 16 hexadecimal digits of HMAC-SHA-256 of the id, under the service's key."""
    with open(KEY_FILE, "rb") as file:
        return hmac.new(file.read(), record_id.encode(), hashlib.sha256).hexdigest()[:16]
