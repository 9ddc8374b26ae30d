package main

// commitFaults are mistakes in how changes become durable, and in what is written
// with them.
func commitFaults() []fault {
	return []fault{
		{
			name: "answer-before-commit",
			says: "Operations are answered when they have run, before the transaction is committed.",
			edits: []edit{
				{
					"store/bolt/commit.go",
					"			bad = db.runAll(batch)\n			if bad != nil || db.tx.writes == 0 {\n",
					"			if bad = db.runAll(batch); bad == nil {\n				answerAll(batch)\n			}\n			if bad != nil || db.tx.writes == 0 {\n",
				},
				{
					"store/bolt/commit.go",
					"		case err == nil:\n			answerAll(batch)\n			return true\n",
					"		case err == nil:\n			return true\n",
				},
			},
			by: []harness{powerLoss(), linear()},
		},
		{
			name: "commit-without-sync",
			says: "The file is opened with NoSync, which is so much faster.",
			edits: []edit{{
				"store/bolt/handle.go",
				"	o.InitialMmapSize = initialMap()\n",
				"	o.InitialMmapSize = initialMap()\n	o.NoSync = true\n",
			}},
			by: []harness{powerLoss()},
		},
		{
			name: "audit-in-second-transaction",
			says: "The audit entry of a change is written in a transaction of its own, after the change.",
			edits: []edit{
				{
					"store/bolt/push.go",
					"	if err != nil {\n		return store.Change{}, err\n	}\n	return c, nil\n}\n",
					"	if err != nil {\n		return store.Change{}, err\n	}\n	if c.Entry.At.IsZero() || c.Push.State == store.Purged {\n		return c, nil\n	}\n	return c, db.do(ctx, 0, func(t *tx) error {\n		entry, err := encode(t, c.Entry)\n		if err != nil {\n			return err\n		}\n		return t.put(audit, auditKey(id, c.Push.Seq-1), entry)\n	})\n}\n",
				},
				{
					"store/bolt/push.go",
					"	case counts && c.Push.Seq != old.Seq && t.mayNote(c):\n		return t.note(c.Push, c.Entry)\n",
					"",
				},
				{
					"store/bolt/push.go",
					"	if c.Push.Seq == old.Seq {\n		return nil\n	}\n	return t.put(audit, auditKey(old.ID, old.Seq), entry)\n",
					"	_ = entry\n	return nil\n",
				},
			},
			by: []harness{powerLoss(), kill()},
		},
		{
			name: "index-row-left-behind",
			says: "Where a push moves in the expiry index, its old row stays.",
			edits: []edit{{
				"store/bolt/push_rows.go",
				"	return t.move(expiry, expires, expiryRow(p))\n",
				"	if string(expires) == string(expiryRow(p)) {\n		return nil\n	}\n	return t.move(expiry, nil, expiryRow(p))\n",
			}},
			by: []harness{model(), kill()},
		},
		{
			name: "payload-not-destroyed",
			says: "A push that ends keeps its sealed payload.",
			edits: []edit{{
				"store/bolt/push.go",
				"	if !c.Push.Live() && c.Payload != nil {\n		if err := t.deletePayload(old.ID); err != nil {\n			return err\n		}\n	}\n",
				"",
			}},
			by: []harness{model(), kill()},
		},
		{
			name: "batch-of-one-error",
			says: "All operations of a batch are answered with the error of its first.",
			edits: []edit{{
				"store/bolt/commit.go",
				"		o.answer(o.err)\n",
				"		o.answer(batch[0].err)\n",
			}},
			by: []harness{linear()},
		},
		{
			name: "failed-commit-goes-on",
			says: "After a commit of which nobody knows the outcome, the store says that it is full and goes on.",
			edits: []edit{{
				"store/bolt/commit.go",
				"		h.noteDamage(err)\n		return nil, db.fail(",
				"		if !h.noteDamage(err) {\n			return nil, fmt.Errorf(\"%w: commit: %w\", store.ErrFull, err)\n		}\n		return nil, db.fail(",
			}},
			by: []harness{diskErrors()},
		},
		{
			name: "unknown-outcome-taken-for-full",
			says: "A commit that failed for lack of room is taken for undone where it is visible: <= for <.",
			edits: []edit{{
				"store/bolt/commit.go",
				"	return viewErr == nil && last < txid\n",
				"	return viewErr == nil && last <= txid\n",
			}},
			by: []harness{diskErrors()},
		},
		{
			name: "full-taken-for-unknown-outcome",
			says: "A disk without room is not told from one that fails, and ends the server.",
			edits: []edit{{
				"store/bolt/commit.go",
				"	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)",
				"	return errors.Is(err, syscall.EDQUOT)",
			}},
			by: []harness{fullDisk()},
		},
	}
}
