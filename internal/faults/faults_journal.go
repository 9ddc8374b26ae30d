package main

import "slices"

// journalFaults are mistakes in the journal of views of store/bolt.
func journalFaults() []fault {
	return []fault{
		{
			name: "view-in-memory-only",
			says: "A view stays in memory until it is folded: its row of the journal is not written.",
			edits: []edit{{
				"store/bolt/journal_fold.go",
				"	if err := t.put(journalRows, uint64Key(t.nextRow), row); err != nil {\n		return err\n	}\n",
				"	t.writes, t.bytes = t.writes+1, t.bytes+len(row)\n",
			}},
			by: []harness{kill(), powerLoss()},
		},
		{
			name: "journal-not-loaded",
			says: "The rows of the journal are not read when the file is opened.",
			edits: []edit{{
				"store/bolt/open.go",
				"		return db.journal.load(t)\n",
				"		return nil\n",
			}},
			by: []harness{kill(), powerLoss()},
		},
		{
			name: "journal-rows-taken-twice",
			says: "What a transaction put into the journal is not forgotten when the next begins.",
			edits: []edit{{
				"store/bolt/tx.go",
				"	clear(t.local)\n",
				"",
			}},
			by: []harness{fullDisk(), model()},
		},
		{
			name: "journal-cut-before-folding",
			says: "Rows of the journal are cut off before they are in their places.",
			edits: []edit{
				{
					"store/bolt/journal_fold.go",
					"	w := &journalWork{folds: j.fold[:n], cuts: j.first}\n",
					"	w := &journalWork{folds: j.fold[:max(0, n-1)], cuts: j.first}\n",
				},
			},
			by: []harness{kill(), powerLoss()},
		},
		{
			name: "journal-counts-added",
			says: "Folding adds what the journal has of a push to its counts in place of setting them.",
			edits: []edit{{
				"store/bolt/journal_fold.go",
				"	p.applyTo(&next)\n",
				"	p.applyTo(&next)\n	next.Views = old.Views + len(p.rows)\n",
			}},
			by: []harness{kill(), powerLoss()},
		},
		{
			name: "journal-folded-over-newer",
			says: "Folding sets the counts of a push back where a later change has brought them along.",
			edits: []edit{{
				"store/bolt/journal_fold.go",
				"	if err := t.bringEntries(p.rows); err != nil || p.seq <= old.Seq {\n",
				"	if err := t.bringEntries(p.rows); err != nil {\n",
			}},
			by: []harness{kill(), powerLoss()},
		},
		{
			name: "journal-left-out-of-an-end",
			says: "A change that ends a push does not bring along the audit entries that are in the journal.",
			edits: []edit{{
				"store/bolt/push.go",
				"	if err := t.bring(old.ID); err != nil {\n		return err\n	}\n",
				"",
			}},
			by: []harness{model(), kill()},
		},
		{
			name: "overlay-after-begin",
			says: "A reader looks into the journal after it has begun its transaction, and misses what was folded between.",
			edits: []edit{
				{
					"store/bolt/db.go",
					"	over := db.journal.overlay() // before the transaction begins: it sees what is folded meanwhile\n",
					"",
				},
				{
					"store/bolt/db.go",
					"		seen, t.over = int64(t.bolt.ID()), over\n",
					"		seen, t.over = int64(t.bolt.ID()), db.journal.overlay()\n",
				},
			},
			by: slices.Repeat([]harness{readers()}, 4), // between two instructions, and seen in three runs of four
		},
	}
}
