"""Makes accounts.json: an example of the parts of an account that package seal
seals.

It takes the keys and helpers of vectors.py, and like it is from doc.go and the
RFCs alone. accounts.json is frozen.

    python3 -B accounts.py > accounts.json     (needs cryptography 44 or later)
"""

import hashlib
import json
import struct

from vectors import HEAD, audit_key, hkdf, nonce, seal

key = hkdf(audit_key, b"", b"pushbox account 1")
session = "abcdefghijklmnopqrstuvwxyz234567"
session_digest = hashlib.sha256(session.encode()).digest()
origin = "192.0.2.1 Größenwahn/5.0".encode()
account_id = struct.pack(">Q", 7)
totp = bytes(range(20))

vectors = {
    "session": session,
    "session_digest": session_digest.hex(),
    "origin": origin.decode(),
    "sealed_origin": seal(key, HEAD, nonce, origin, HEAD + session_digest).hex(),
    "account_id": account_id.hex(),
    "totp": totp.hex(),
    "sealed_totp": seal(key, HEAD, nonce, totp, HEAD + account_id).hex(),
}
print(json.dumps(vectors, indent=2, ensure_ascii=False))
