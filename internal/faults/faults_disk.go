package main

// diskFaults are mistakes in the files: how they are made, replaced and opened.
func diskFaults() []fault {
	return []fault{
		{
			name: "copy-not-synced",
			says: "A compacted copy takes the place of the file without a sync.",
			edits: []edit{{
				"store/bolt/compact_swap.go",
				"	if err := c.to.file.Sync(); err != nil {\n		return fmt.Errorf(\"sync the copy: %w\", err)\n	}\n",
				"",
			}},
			by: []harness{powerLoss()},
		},
		{
			name: "replaced-name-not-synced",
			says: "The directory is not synced after a compacted copy was given the name of the file.",
			edits: []edit{{
				"internal/durable/durable.go",
				"errors.Join(err, lookErr)\n	}\n	return true, SyncDir(filepath.Dir(path))\n",
				"errors.Join(err, lookErr)\n	}\n	return true, nil\n",
			}},
			by: []harness{powerLoss()},
		},
		{
			name: "new-name-not-synced",
			says: "The directory is not synced after a new file was given its name.",
			edits: []edit{{
				"internal/durable/durable.go",
				"	if err != nil {\n		return false, err\n	}\n	return true, SyncDir(filepath.Dir(path))\n",
				"	if err != nil {\n		return false, err\n	}\n	return true, nil\n",
			}},
			by: []harness{firstBoot(), secondBoot()},
		},
		{
			name: "key-not-synced",
			says: "The key file is given its name before what is in it is on the disk.",
			edits: []edit{{
				"store/seal/keyfile.go",
				"errors.Join(err, f.Sync(), f.Close())",
				"errors.Join(err, f.Close())",
			}},
			by: []harness{firstBoot()},
		},
		{
			name: "pages-not-checked",
			says: "The list of free pages and the branches are believed when the file is opened.",
			edits: []edit{{
				"store/bolt/open.go",
				"		if h.looked, err = lookAtTrees(t.bolt, false); err != nil {\n			return err\n		}\n",
				"",
			}},
			by: []harness{damage()},
		},
		{
			name: "compaction-misses-deletes",
			says: "A compaction is not told of rows that are deleted while it copies.",
			edits: []edit{{
				"store/bolt/tx.go",
				"	t.writes++\n	t.changes.note(b, key, 0)\n",
				"	t.writes++\n",
			}},
			by: []harness{kill(), powerLoss()},
		},
		{
			name: "compaction-misses-last-rows",
			says: "A compaction does not copy what was written since its last round.",
			edits: []edit{{
				"store/bolt/compact_swap.go",
				"	for rows := rest.sorted(); len(rows) > 0; {\n",
				"	for rows := rest.sorted()[:0]; len(rows) > 0; {\n",
			}},
			by: []harness{kill(), powerLoss()},
		},
	}
}
