"""Makes the examples of end-to-end encryption, from docs/end-to-end.md and the RFCs
alone. They are frozen.

    python3 -B vectors.py     (needs cryptography 44 or later)
"""

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

LABEL = "pushbox end-to-end 1 "
CHUNK = 64 * 1024


def b64(data):
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def base64url(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def fragment(key, check=None, purpose="key"):
    return "a" + b64(key + (check or hashlib.sha256((LABEL + purpose).encode() + key).digest()[:4]))


def cipher(key, purpose, more=b""):
    return AESGCM(HKDF(SHA256(), 32, None, (LABEL + purpose).encode() + more).derive(key))


def section(key, purpose, nonce, plain):
    return b64(nonce + cipher(key, purpose).encrypt(nonce, plain, None))


def envelope(key, nonces, text, meta):
    return ".".join(
        ["pushbox-end-to-end", "1", section(key, "metadata", nonces[0], meta), section(key, "text", nonces[1], text)]
    )


def encrypted(key, number, prefix, plain):
    chunks = [plain[i : i + CHUNK] for i in range(0, len(plain), CHUNK)] or [b""]
    out = prefix
    for i, chunk in enumerate(chunks):
        nonce = prefix + i.to_bytes(4, "big") + bytes([i == len(chunks) - 1])
        out += cipher(key, f"file {number}").encrypt(nonce, chunk, None)
    return out


def pattern(size):
    return bytes(i % 251 for i in range(size))


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def example(name, seed, text, files):
    """Returns one push. Each file is (name, type, size); its byte i is i modulo 251."""
    key = hashlib.sha256(b"key " + seed).digest()
    nonces = [hashlib.sha256(bytes([i]) + seed).digest()[:12] for i in range(2)]
    listed = []
    for i, (file_name, media, size) in enumerate(files, 1):
        prefix = hashlib.sha256(b"file %d " % i + seed).digest()[:7]
        sealed = encrypted(key, i, prefix, pattern(size))
        listed.append(
            {
                "name": file_name,
                "type": media,
                "size": size,
                "prefix": prefix.hex(),
                "encrypted_size": len(sealed),
                "encrypted_sha256": hashlib.sha256(sealed).hexdigest(),
            }
        )
    meta = compact({"files": [{"name": f[0], "type": f[1]} for f in files]})
    return {
        "name": name,
        "key": key.hex(),
        "fragment": fragment(key),
        "nonces": [n.hex() for n in nonces],
        "text": text,
        "files": listed,
        "envelope": envelope(key, nonces, text.encode(), meta),
    }


pushes = [
    example("a text", b"1", "correct horse battery staple", []),
    example("no text", b"2", "", [("notes.txt", "text/plain", 0)]),
    example("every script", b"3", "Größe 秘密 \U0001f511\r\n\u2028\u0000\ufeff", []),
    example(
        "files around the length of a chunk",
        b"4",
        "beside files",
        [
            ("empty", "", 0),
            ("one.bin", "application/octet-stream", 1),
            ("chunk less one", "", CHUNK - 1),
            ("chunk", "", CHUNK),
            ("chunk and one", "", CHUNK + 1),
            ("two chunks", "", 2 * CHUNK),
            ("rapport für 秘密.pdf", "application/pdf", 200_000),
        ],
    ),
]

good = pushes[0]
key = bytes.fromhex(good["key"])
whole, env = good["fragment"], good["envelope"]
nonces = [bytes.fromhex(n) for n in good["nonces"]]
refused = {
    "fragments": [
        ["nothing", "", "none"],
        ["one character less", whole[:-1], "cut"],
        ["one character more", whole + "A", "cut"],
        ["half of it", whole[:24], "cut"],
        ["a character changed", whole[:9] + ("A" if whole[9] != "A" else "B") + whole[10:], "cut"],
        ["padding", whole + "=", "cut"],
        ["a wrong checksum", fragment(key, bytes(4)), "cut"],
        ["a line break", whole + "\n", "cut"],
        ["characters of plain base64", "a" + "+/" * 24, "cut"],
        ["the name of a heading", "main", "cut"],
        ["a later version", "b" + whole[1:], "later"],
    ],
    "key": good["fragment"],
    "envelopes": [
        ["a text", "hello", "not"],
        ["only the beginning", "pushbox-end-to-end.1.", "not"],
        ["a later version", env.replace(".1.", ".2."), "not"],
        ["one section", env.rpartition(".")[0], "not"],
        ["three sections", env + "." + env.rpartition(".")[2], "not"],
        ["padding", env + "=", "not"],
        ["a line break", env + "\n", "not"],
        ["a space in front", " " + env, "not"],
        ["cut", env[:-1], "open"],
        ["unused bits set", env[:-1] + chr(ord(env[-1]) + 1), "open"],
        ["another key", pushes[2]["envelope"], "open"],
        ["sections swapped", ".".join(env.split(".")[:2] + env.split(".")[:1:-1]), "open"],
        ["metadata that is no object", envelope(key, nonces, b"x", b"[]"), "open"],
        ["metadata without files", envelope(key, nonces, b"x", b"{}"), "open"],
        ["a file without a name", envelope(key, nonces, b"x", b'{"files":[{"type":""}]}'), "open"],
        ["a text that is not UTF-8", envelope(key, nonces, b"\xff", b'{"files":[]}'), "open"],
    ],
}


class P256:
    name, number = "p256", 2

    def __init__(self, private):
        self.key = ec.derive_private_key(int.from_bytes(private, "big"), ec.SECP256R1())

    def public(self):
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def shared(self, other):
        return self.key.exchange(ec.ECDH(), other.key.public_key())


class X25519:
    name, number = "x25519", 1

    def __init__(self, private):
        self.key = x25519.X25519PrivateKey.from_private_bytes(private)

    def public(self):
        return self.key.public_key().public_bytes_raw()

    def shared(self, other):
        return self.key.exchange(other.key.public_key())


def wrapped(key, shared, curve, ephemeral, public):
    sealed = cipher(shared, f"wrapped key {curve.name} ", ephemeral + public).encrypt(bytes(12), key, None)
    return b64(bytes([curve.number]) + ephemeral + sealed)


def fingerprint(public):
    digest = hashlib.sha256((LABEL + "request fingerprint").encode() + b"".join(public)).digest()
    return fragment(digest[:16], purpose="request fingerprint")


def asked(name, seed, own, curve):
    """Returns a request and the wrapped key of an answer to it."""
    private = [hashlib.sha256(c.name.encode() + b" key " + seed).digest() for c in own]
    to = dict(zip(own, private))[curve]
    ephemeral = hashlib.sha256(b"ephemeral key " + seed).digest()
    key = hashlib.sha256(b"key " + seed).digest()
    a, b = curve(ephemeral), curve(to)
    return {
        "name": name,
        "private": [p.hex() for p in private],
        "fragment": fragment(b"".join(private), purpose="request key"),
        "public_keys": {c.name: b64(c(p).public()) for c, p in zip(own, private)},
        "fingerprint": fingerprint([c(p).public() for c, p in zip(own, private)]),
        "key": key.hex(),
        "ephemeral": ephemeral.hex(),
        "wrapped": wrapped(key, a.shared(b), curve, a.public(), b.public()),
    }


both, alone = asked("over X25519", b"1", [P256, X25519], X25519), asked("over P-256", b"2", [P256], P256)
whole, wrap = both["fragment"], both["wrapped"]
private = bytes.fromhex("".join(both["private"]))
public = X25519(private[32:]).public()
point = P256(private[:32]).public()
raw = base64url(wrap)
sealed = raw[33:]
requests = {
    "made": [both, alone],
    "refused": {
        "fragments": [
            ["nothing", "", "none"],
            ["one character less", whole[:-1], "cut"],
            ["a character changed", whole[:50] + ("A" if whole[50] != "A" else "B") + whole[51:], "cut"],
            ["padding", whole + "=", "cut"],
            ["a key of a push", fragment(private[:32]), "cut"],
            ["another length", fragment(private[:48], purpose="request key"), "cut"],
            ["a later version", "b" + whole[1:], "later"],
        ],
        "public_keys": [
            ["no keys", {}],
            ["only that of X25519", {"x25519": b64(public)}],
            ["a byte less", {"p256": b64(point[:-1])}],
            ["padding", {"p256": b64(point) + "="}],
            ["a compressed point", {"p256": b64(bytes([2]) + point[1:33])}],
            ["a point that is not on the curve", {"p256": b64(point[:-1] + bytes([point[-1] ^ 1]))}],
        ],
        "fingerprints": [
            ["nothing", "", "none"],
            ["one character less", both["fingerprint"][:-1], "cut"],
            ["that of other keys", alone["fingerprint"], "changed"],
        ],
        "fragment": whole,
        "wrapped_keys": [
            ["nothing", "", "not"],
            ["another curve", b64(bytes([3]) + raw[1:]), "not"],
            ["the length of another curve", b64(bytes([2]) + raw[1:]), "not"],
            ["a byte less", b64(raw[:-1]), "not"],
            ["a byte more", b64(raw + b"x"), "not"],
            ["the other curve", alone["wrapped"], "open"],
            ["a bit changed", b64(raw[:-9] + bytes([raw[-9] ^ 1]) + raw[-8:]), "open"],
            ["another ephemeral key", b64(bytes([1]) + public + sealed), "open"],
            ["a point of low order", wrapped(bytes(32), bytes(32), X25519, bytes(32), public), "open"],
            ["a point that is not on the curve", b64(bytes([2]) + point[:-1] + bytes([point[-1] ^ 1]) + sealed), "open"],
        ],
    },
}

for name, value in (("pushes.json", pushes), ("refused.json", refused), ("requests.json", requests)):
    with open(name, "w", encoding="utf-8") as f:
        json.dump(value, f, indent=2, ensure_ascii=True)
        f.write("\n")
