"""Makes vectors.json: an example of everything that package seal writes.

It is a second implementation, from doc.go and the RFCs, of fixed inputs; it
shares no code with the Go one. vectors.json is frozen: what it holds must open
for good, so a new format gets a file of its own beside it.

    python3 vectors.py > vectors.json     (needs cryptography 44 or later)
"""

import base64
import hashlib
import hmac
import json
import struct

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

VERSION = ALGORITHM = 1
HEAD = bytes([VERSION, ALGORITHM])


def hkdf(secret, salt, info):
    """RFC 5869 with SHA-256, for 32 bytes."""
    prk = hmac.digest(salt or bytes(32), secret, "sha256")
    return hmac.digest(prk, info + b"\x01", "sha256")


def hchacha20(key, nonce):
    """draft-irtf-cfrg-xchacha, section 2.2."""
    s = list(struct.unpack("<16I", b"expand 32-byte k" + key + nonce))

    def quarter(a, b, c, d):
        for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & 0xFFFFFFFF
            v = s[z] ^ s[x]
            s[z] = (v << bits | v >> 32 - bits) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<8I", *s[:4], *s[12:])


def seal(key, head, nonce, plain, aad):
    inner = ChaCha20Poly1305(hchacha20(key, nonce[:16]))
    return head + nonce + inner.encrypt(bytes(4) + nonce[16:], plain, aad)


def argon2id(passphrase, salt, memory, passes, threads):
    return Argon2id(salt=salt, length=32, iterations=passes, lanes=threads, memory_cost=memory).derive(passphrase)


def run(start, length):
    return bytes((start + i) % 256 for i in range(length))


def key_text(root):
    prefix = "pushbox-key-1:"
    check = hashlib.sha256(prefix.encode() + root).digest()[:8]
    text = base64.b32encode(root + check).decode().lower()
    groups = "-".join(text[i : i + 8] for i in range(0, 64, 8))
    return (
        "# pushbox master key: keep a copy apart from the database; without it nothing can be read.\n"
        f"{prefix}{groups}\n"
    )


def wrap(kek, version, push_id, token, salt, nonce, dek, passphrase=None):
    memory, passes, threads = (19456, 2, 1) if passphrase else (0, 0, 0)
    a = argon2id(passphrase, salt, memory, passes, threads) if passphrase else b""
    head = HEAD + struct.pack(">IIBB", version, memory, passes, threads) + salt
    return seal(hkdf(kek + token + a, salt, b"pushbox wrap 1"), head, nonce, dek, push_id + head)


root, id_key, audit_key, kek1, kek2, dek = (run(32 * i, 32) for i in range(6))
created = [1767225600000, 1769907600000]  # when each KEK came into use
token = b"agn4gtbyaabcdefghijklmnopqrstuvwxy"
passphrase = "correct horse battery staple, größer".encode()
mac = hmac.digest(id_key, token, "sha256")[:16]
push_id = struct.pack(">Q", created[0])[2:] + mac
entry_id = push_id + struct.pack(">I", 7)
kind = 1
payload = "hunter2 ☃".encode()
details = b"a name and a note"
entry = b"192.0.2.1"
ring = id_key + audit_key
for version, since, kek in ((1, created[0], kek1), (2, created[1], kek2)):
    ring += struct.pack(">IQ", version, since) + kek
salt, nonce = run(0xF0, 16), run(0xC0, 24)
password_salt = run(0x11, 16)
api_token = "pb_" + base64.b32encode(run(0x33, 32)).decode().lower().rstrip("=")

vectors = {
    "key_text": key_text(root),
    "sealed_ring": seal(hkdf(root, b"", b"pushbox key ring 1"), HEAD, nonce, ring, HEAD).hex(),
    "kek_from": created,
    "token": token.decode(),
    "passphrase": passphrase.decode(),
    "mac": mac.hex(),
    "push_id": push_id.hex(),
    "entry_id": entry_id.hex(),
    "kind": kind,
    "dek": dek.hex(),
    "wrap": wrap(kek1, 1, push_id, token, salt, nonce, dek).hex(),
    "wrap_protected": wrap(kek2, 2, push_id, token, salt, nonce, dek, passphrase).hex(),
    "payload": payload.decode(),
    "sealed_payload": seal(
        hkdf(dek, b"", b"pushbox payload 1"), HEAD, nonce, payload, HEAD + push_id + bytes([kind])
    ).hex(),
    "details": details.decode(),
    "sealed_details": seal(
        hkdf(kek2, b"", b"pushbox details 1"),
        HEAD + struct.pack(">I", 2),
        nonce,
        details,
        HEAD + struct.pack(">I", 2) + push_id,
    ).hex(),
    "entry": entry.decode(),
    "sealed_entry": seal(hkdf(audit_key, b"", b"pushbox entry 1"), HEAD, nonce, entry, HEAD + entry_id).hex(),
    "password_salt": password_salt.hex(),
    "password_hash": argon2id(passphrase, password_salt, 19456, 2, 1).hex(),
    "api_token": api_token,
    "api_token_digest": hashlib.sha256(api_token.encode()).hexdigest(),
}
if __name__ == "__main__":
    print(json.dumps(vectors, indent=2, ensure_ascii=False))
