"""Makes families.json: an example of everything that package seal seals or
authenticates under keys of families, since key rings have them.

It takes the keys and helpers of vectors.py, and like it is from doc.go and the
RFCs alone. families.json is frozen.

    python3 -B families.py > families.json     (needs cryptography 44 or later)
"""

import hmac
import json
import struct

from vectors import HEAD, audit_key, created, hkdf, id_key, kek1, kek2, nonce, push_id, root, run, seal, token

FAMILY_HEAD = bytes([2, 1])
detail1, detail2, audit1, row1, row2 = (run(32 * i, 32) for i in range(10, 15))


def family_key(family, version, since, key):
    return struct.pack(">BIQ", family, version, since) + key


ring = id_key
for family, version, since, key in (
    (1, 1, created[0], kek1),
    (1, 2, created[1], kek2),
    (2, 1, created[0], detail1),
    (2, 300, created[1], detail2),
    (3, 1, created[0], audit1),
    (4, 1, created[0], row1),
    (4, 2, created[1], row2),
):
    ring += family_key(family, version, since, key)


def under(key, version, info, plain, bound):
    head = FAMILY_HEAD + struct.pack(">H", version)
    return seal(hkdf(key, b"", info), head, nonce, plain, head + bound).hex()


def row_sum(key, bucket, row_key, value):
    return hmac.digest(key, bucket + b"\0" + struct.pack(">I", len(row_key)) + row_key + value, "sha256").hex()


link_head = HEAD + struct.pack(">I", 2)
details, message, hook = b"a name and a note", b"a message", b"https://hooks.example.com/"
request = b"a text and a token"
entry, event, account = b"192.0.2.1", "Größenwahn".encode(), b"a second factor"
place, digest, account_id = run(0x50, 17), run(0x70, 32), struct.pack(">Q", 7)
bucket, value = b"pushes", run(0x20, 200)

vectors = {
    "sealed_ring": seal(hkdf(root, b"", b"pushbox key ring 1"), FAMILY_HEAD, nonce, ring, FAMILY_HEAD).hex(),
    "sealed_link": seal(
        hkdf(kek2, b"", b"pushbox link 1"), link_head, nonce, token, link_head + push_id
    ).hex(),
    "details": details.decode(),
    "sealed_details": under(detail2, 300, b"pushbox details 1", details, push_id),
    "hook": hook.decode(),
    "sealed_hook": under(detail2, 300, b"pushbox webhook 1", hook, place),
    "message": message.decode(),
    "sealed_message": under(detail2, 300, b"pushbox message 1", message, place),
    "place": place.hex(),
    "request": request.decode(),
    "sealed_request": under(detail2, 300, b"pushbox request 1", request, push_id),
    "entry": entry.decode(),
    "sealed_entry": under(audit1, 1, b"pushbox entry 1", entry, push_id),
    "event": event.decode(),
    "event_digest": digest.hex(),
    "sealed_event": under(audit1, 1, b"pushbox event 1", event, digest),
    "account": account.decode(),
    "account_id": account_id.hex(),
    "sealed_account": under(audit1, 1, b"pushbox account 1", account, account_id),
    "bucket": bucket.decode(),
    "value": value.hex(),
    "row_sums": [row_sum(row1, bucket, push_id, value), row_sum(row2, bucket, push_id, value)],
    # The first keys of a ring of before there were families.
    "first_details": under(hkdf(audit_key, b"", b"pushbox detail key 1"), 1, b"pushbox details 1", details, push_id),
    "first_entry": under(audit_key, 1, b"pushbox entry 1", entry, push_id),
    "first_row_sum": row_sum(hkdf(audit_key, b"", b"pushbox row key 1"), bucket, push_id, value),
}
if __name__ == "__main__":
    print(json.dumps(vectors, indent=2, ensure_ascii=False))
