"""Exits with 0 if the server in this container answers /health, and with 1 otherwise."""

import os
import ssl
import sys
from urllib.request import urlopen

scheme = "https" if os.environ.get("HANDRAIL_TLS_CERT") else "http"
# The certificate is made for the public name, and this connection does not leave the container.
unverified = ssl.create_default_context()
unverified.check_hostname = False
unverified.verify_mode = ssl.CERT_NONE
address = f"{scheme}://127.0.0.1:{os.environ.get('HANDRAIL_PORT', '8000')}/health"
try:
    with urlopen(address, timeout=4, context=unverified) as answer:
        sys.exit(answer.status != 200)
except OSError as error:
    sys.exit(f"{address}: {error}")
