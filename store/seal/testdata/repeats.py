"""Makes repeats.json: an example of the token of a push that a sender may get again.

It takes the keys and helpers of vectors.py, and like it is from doc.go and the
RFCs alone. repeats.json is frozen.

    python3 -B repeats.py > repeats.json     (needs cryptography 44 or later)
"""

import json

from vectors import HEAD, hkdf, id_key, nonce, run, seal, token

key = b"order 4711, sent by the shop: \"once\" \\ 0123456789 0123456789 0123456789"  # longer than a block
repeat_id, fields = run(200, 16), run(90, 32)
print(json.dumps({
    "key": key.decode(),
    "repeat_id": repeat_id.hex(),
    "fields": fields.hex(),
    "sealed_repeat": seal(hkdf(id_key, key, b"pushbox repeat 1"), HEAD, nonce, token, HEAD + repeat_id + fields).hex(),
}, indent=1))
