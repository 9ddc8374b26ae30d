"""Makes files.json: an example of files and download grants as package seal
writes them.

It belongs to the push of vectors.json, takes its keys and helpers from
vectors.py, and like it is from doc.go and the RFCs alone. files.json is frozen.

Byte i of a file is i modulo 251, so that no two of its chunks are the same. Of
its sealed chunks, one behind the other, there is the SHA-256 digest.

    python3 -B files.py > files.json     (needs cryptography 44 or later)
"""

import hashlib
import json
import struct

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from vectors import HEAD, dek, hkdf, kek2, nonce, push_id, run, seal

CHUNK = 65536


def seal_chunk(key, number, last, plain):
    return ChaCha20Poly1305(key).encrypt(number.to_bytes(11, "big") + bytes([last]), plain, None)


def seal_file(key, plain):
    starts = range(0, len(plain), CHUNK) or [0]
    return b"".join(
        seal_chunk(key, i, start == starts[-1], plain[start : start + CHUNK]) for i, start in enumerate(starts)
    )


def file(key, size):
    sealed = seal_file(key, bytes(i % 251 for i in range(size)))
    return {"size": size, "sealed_size": len(sealed), "sealed_sha256": hashlib.sha256(sealed).hexdigest()}


files_key = hkdf(dek, b"", b"pushbox files 1")
blob_id = run(0x50, 16)
key = hkdf(files_key, blob_id, b"pushbox file 1")
number, chunk = 0x0102030405060708, "the last chunk".encode()
grant_token = "abcdefghijklmnopqrstuvwxyz234567"
file_list = "größer.pdf".encode()
list_key = hkdf(files_key, b"", b"pushbox file list 1")
grant_head = HEAD + struct.pack(">I", 2)
grant_key = hkdf(kek2 + grant_token.encode(), b"", b"pushbox grant 1")

vectors = {
    "files_key": files_key.hex(),
    "blob_id": blob_id.hex(),
    "files": [file(key, size) for size in (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 12345)],
    "chunk_number": number,
    "chunk": chunk.decode(),
    "sealed_chunk": seal_chunk(key, number, True, chunk).hex(),
    "grant_token": grant_token,
    "list": file_list.decode(),
    "sealed_list": seal(list_key, HEAD, nonce, file_list, HEAD + push_id).hex(),
    "sealed_grant": seal(grant_key, grant_head, nonce, files_key, grant_head + push_id).hex(),
}
print(json.dumps(vectors, indent=2, ensure_ascii=False))
