"""Certificates that the environment names for TLS, by the variables of OpenSSL, requests and curl."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from punchline.errors import PunchlineError

VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")  # the first that is set counts


def trusted() -> ssl.SSLContext | None:
    """TLS by the certificates that the environment names; None if it names none. Raises PunchlineError."""
    name = next((name for name in VARIABLES if os.environ.get(name)), None)
    if name is None:
        return None
    value = os.environ[name]
    try:
        if all(Path(place).is_dir() for place in value.split(os.pathsep)):
            return ssl.create_default_context(capath=value)
        if name == "SSL_CERT_DIR":
            raise OSError("no such folder")
        return ssl.create_default_context(cafile=value)
    except OSError as error:
        what = f"the environment variable {name} names no certificates ({value}: {error}); correct or unset it"
        raise PunchlineError(what) from error
