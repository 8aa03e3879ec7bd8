"""Who may run code through a page?

Only a page of this server that was opened with its key. Three checks, each enough against another attacker: the Host
names this machine (a name of the web that was bound to it does not), the Origin is our own (a page of another site has
its own), and the key is right (another user of this machine does not know it). Jupyter's own check of the Origin would
not do: it lets any page pass that has the key.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from http import HTTPStatus

from workbook.predictions.pages import Answer, refuse_strangers, refused

PREFIX = "/workbook/jupyter"
DESK = "/workbook/exercises"
QUOTES = "/workbook/quotes"
KEY = "key."  # begins the WebSocket protocol that carries the key: a page cannot set headers there
KERNEL = rf"{PREFIX}/api/kernels/\w+-\w+-\w+-\w+-\w+"
EXERCISE = rf"{DESK}/\d\d\.\d+"
QUOTE = rf"{QUOTES}/((?:\w+/)*\w+\.\w+(?::\d+)?)"  # a place of the library, in which `..` is no name
# All that a page needs, and all that is let through. Of Jupyter: no contents, no terminals, no settings, no log-in.
ROUTES = {
    "POST": rf"{PREFIX}/api/kernels|{KERNEL}/interrupt|{EXERCISE}/(?:start|check|hint)",
    "GET": rf"{KERNEL}(?:/channels)?|{DESK}|{EXERCISE}|{QUOTE}",
    "PUT": EXERCISE,
    "DELETE": KERNEL,
}


def refusal(key: str, method: str, path: str, headers: Mapping[str, str]) -> Answer | None:
    """The answer to a request that may not pass, or None. `path` is without the query."""
    if (stranger := refuse_strangers(dict(headers), writes=False)) is not None:
        return stranger
    if not hmac.compare_digest(key_in(headers).encode(), key.encode()):
        return refused(HTTPStatus.FORBIDDEN, "The key of this server is missing, or it belongs to an earlier run.")
    if re.fullmatch(ROUTES.get(method, "(?!)"), path) is None:
        return refused(HTTPStatus.NOT_FOUND, "There is nothing of this name.")
    return None


def key_in(headers: Mapping[str, str]) -> str:
    """The key that a request carries, or an empty text."""
    word, _, key = headers.get("Authorization", "").partition(" ")
    if word.lower() == "token":
        return key
    offered = headers.get("Sec-WebSocket-Protocol", "").split(",")
    return next((name.strip()[len(KEY) :] for name in offered if name.strip().startswith(KEY)), "")
