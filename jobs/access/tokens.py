"""Making tokens: a secret that is shown once, and what is kept of it.

token, secret = new_token("laptop", (Scope.READ, Scope.SPEAK), Quota(requests_per_minute=60))
gate.add(token)  # and show `secret` to its owner
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable

from jobs.access.gate import Quota, Scope, Token
from jobs.errors import BadOption

SECRET_PREFIX = "ttsb_"  # noqa: S105  # what every secret begins with, so that scanners of repositories can know one
SECRET_BYTES = 32
"""Random bytes of a secret: 43 url-safe characters."""
LONGEST_SECRET = 200
"""Characters; what is longer is no secret of ours and is not even hashed."""
ID_BYTES = 6
LONGEST_NAME = 64


def new_token(
    name: str, scopes: Iterable[Scope], quota: Quota | None = None, *, expires_at_s: float | None = None
) -> tuple[Token, str]:
    """A new token and its secret, kept nowhere yet. `expires_at_s`: Unix time.

    Raises:
        BadOption: no scope, or a name that cannot be shown in one line of a log.
    """
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        msg = f"token name {name!r} is not allowed; use 1 to {LONGEST_NAME} printable characters"
        raise BadOption(msg)
    chosen = tuple(scope for scope in Scope if scope in set(scopes))
    if not chosen:
        msg = f"a token needs a scope: {', '.join(Scope)}"
        raise BadOption(msg)
    secret = SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    token = Token(
        token=f"tok_{secrets.token_hex(ID_BYTES)}",
        name=name,
        digest=digest_of(secret),
        scopes=chosen,
        quota=quota or Quota(),
        created_at_s=time.time(),
        expires_at_s=expires_at_s,
    )
    return token, secret


def digest_of(secret: str) -> str:
    """SHA-256 of a secret, in hex; of what no secret can be (too long) too, so that it is looked for in vain."""
    return hashlib.sha256(secret[: LONGEST_SECRET + 1].encode("utf-8", "surrogatepass")).hexdigest()
