package main

// fileFaults are mistakes about files: their chunks, grants, downloads and orphans.
func fileFaults() []fault {
	return []fault{
		{
			name: "grants-left-to-the-sweep",
			says: "A delete is answered while the grants for the push's files are still there, for the sweeper to remove.",
			edits: []edit{{
				"store/bolt/chunk.go",
				"func (t *tx) release(id store.ID) error {\n",
				"func (t *tx) release(id store.ID) error { return t.put(orphans, id[:], nil) }\n\nfunc (t *tx) sweepGrants(id store.ID) error {\n",
			}},
			by: []harness{model(), kill()},
		},
		{
			name: "orphans-never-freed",
			says: "Sweeps leave the chunks of uploads that were cut short where they are, at a start too.",
			edits: []edit{{
				"store/sweep.go",
				"s.finishRemovals(ctx), s.freeOrphans(ctx), s.clearSessions",
				"s.finishRemovals(ctx), s.clearSessions",
			}},
			by: []harness{kill(), model()},
		},
		{
			name: "running-upload-swept",
			says: "A sweep takes the chunks of an upload that runs for ones that were left behind.",
			edits: []edit{{
				"store/upload.go",
				"			if s.uploads.has(id) {\n				continue\n			}\n",
				"",
			}},
			by: []harness{kill(), soak()},
		},
		{
			name: "chunk-without-its-number",
			says: "Each chunk of a file is sealed under the same number, so that they can change places.",
			edits: []edit{{
				"store/seal/file.go",
				"	binary.BigEndian.PutUint64(nonce[3:], n)\n",
				"	binary.BigEndian.PutUint64(nonce[3:], n-n)\n",
			}},
			by: []harness{fuzz("store/seal", "FuzzOpenChunk")},
		},
		{
			name: "read-from-chunk-start",
			says: "A read that begins within a chunk of a file gets that chunk from its start.",
			edits: []edit{{
				"store/download.go",
				"	n := copy(p, d.plain[d.offset%seal.ChunkSize:])\n",
				"	n := copy(p, d.plain[:min(d.Size-d.offset, int64(len(d.plain)))])\n",
			}},
			by: []harness{kill()},
		},
		{
			name: "range-one-byte-short",
			says: "The last byte that a Range header asks for is not sent.",
			edits: []edit{{
				"server/range.go",
				"	return span{from, to - from + 1}, true, nil\n",
				"	return span{from, max(1, to-from)}, true, nil\n",
			}},
			by: []harness{fuzz("server", "FuzzRange")},
		},
		{
			name: "never-compacts",
			says: "The file is compacted when 64 GiB of it are unused, in place of MiB.",
			edits: []edit{{
				"store/compact.go",
				"	leastGap = 64 << 20 //",
				"	leastGap = 64 << 30 //",
			}},
			by: []harness{soak()},
		},
	}
}
