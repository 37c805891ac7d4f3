"""Asks Patroni over HTTP."""

import json
import urllib.error
import urllib.request
from typing import Any


def get(url: str) -> dict[str, Any]:
    """Return the JSON of a page of Patroni; empty where there is none."""
    try:
        with urllib.request.urlopen(url, timeout=3) as answer:
            text = answer.read()
    except urllib.error.HTTPError as error:  # a node that does not lead says so by its status
        text = error.read()
    except OSError:
        return {}
    page: dict[str, Any] = json.loads(text)
    return page


def post(url: str, body: dict[str, Any], seconds: float) -> str:
    """Ask Patroni for something; return what it says."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return str(error.read().decode())
