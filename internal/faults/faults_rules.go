package main

// ruleFaults are mistakes in what the rules decide, and when they are asked.
func ruleFaults() []fault {
	return []fault{
		{
			name: "one-view-too-many",
			says: "A push ends after its limit was passed, not when it is reached: > for >=.",
			edits: []edit{{
				"store/rules.go",
				"if p.Live() && p.Views >= p.ViewLimit {",
				"if p.Live() && p.Views > p.ViewLimit {",
			}},
			by: []harness{race()},
		},
		{
			name: "count-after-sending",
			says: "The payload is given out first, and the view is counted by a goroutine after that.",
			edits: []edit{{
				"store/retrieve.go",
				"	c, err := s.change(ctx, p.ID, retrieveRule(by, at, sealed, files.issue))\n	if err != nil {\n		return PushInfo{}, err\n	}\n",
				`	var next Push
	count := retrieveRule(by, at, sealed, files.issue)
	c, err := s.engine.Change(ctx, p.ID, func(p Push) (_ Push, e Entry, err error) {
		next, e, err = count(p)
		return p, e, err
	})
	if err != nil {
		return PushInfo{}, err
	}
	c.Push = next
	go func() { _, _ = s.change(context.WithoutCancel(ctx), p.ID, count) }()
`,
			}},
			by: []harness{race()},
		},
		{
			name: "check-outside-transaction",
			says: "The push that a rule decides on is read before the transaction that writes what it decided.",
			edits: []edit{
				{
					"store/bolt/push.go",
					"	var c store.Change\n	err := db.do(ctx, 0, func(t *tx) (err error) {\n		c, err = t.change(id, r)\n",
					"	var c store.Change\n	p, err := db.Push(ctx, id)\n	if err != nil {\n		return store.Change{}, err\n	}\n	err = db.do(ctx, 0, func(t *tx) (err error) {\n		c, err = t.change(p, r)\n",
				},
				{
					"store/bolt/push.go",
					"func (t *tx) change(id store.ID, r store.Rule) (store.Change, error) {\n	p, err := t.push(id)\n	if err != nil {\n		return store.Change{}, err\n	}\n",
					"func (t *tx) change(p store.Push, r store.Rule) (store.Change, error) {\n	id := p.ID\n",
				},
			},
			by: []harness{race()},
		},
		{
			name: "wrong-passphrase-counts",
			says: "A wrong passphrase is counted as a view.",
			edits: []edit{{
				"store/rules.go",
				"		e := Entry{Kind: EntryFailedPassphrase, At: at.now, Sealed: sealed}\n",
				"		e := Entry{Kind: EntryFailedPassphrase, At: at.now, Sealed: sealed}\n		p.Views++\n",
			}},
			by: []harness{linear(), kill()},
		},
		{
			name: "passphrase-after-count",
			says: "The view is counted before the passphrase is looked at.",
			edits: []edit{
				{
					"store/retrieve.go",
					"	dek, err := s.unwrap(ctx, by, p, t, passphrase)\n	at := s.time.read() // the passphrase may have waited its turn\n",
					"	at := s.time.read()\n	c, err := s.change(ctx, p.ID, retrieveRule(by, at, sealed, nil))\n	if err != nil {\n		return PushInfo{}, err\n	}\n	dek, err := s.unwrap(ctx, by, p, t, passphrase)\n",
				},
				{
					"store/retrieve.go",
					"	c, err := s.change(ctx, p.ID, retrieveRule(by, at, sealed, files.issue))\n	if err != nil {\n		return PushInfo{}, err\n	}\n",
					"",
				},
			},
			by: []harness{linear()},
		},
		{
			name: "preview-counts",
			says: "A preview is a retrieval of which nothing is shown, and counts a view.",
			edits: []edit{{
				"store/pushes.go",
				"	p, err := s.find(ctx, t)\n	return PushInfo{Push: p, At: s.time.read().now, Token: t}, err\n",
				"	if t.IsZero() {\n		return PushInfo{}, ErrNotFound\n	}\n	at := s.time.read()\n	c, err := s.change(ctx, s.id(t), retrieveRule(Actor{}, at, s.sealActor(s.id(t), Actor{}), nil))\n	return PushInfo{Push: c.Push, At: at.now, Token: t}, err\n",
			}},
			by: []harness{linear()},
		},
		{
			name: "nobody-owns-it",
			says: "No owner is taken for an owner: whoever has no account owns what nobody owns.",
			edits: []edit{{
				"store/rules.go",
				"return a.Account != 0 && p.Owner == a.Account }",
				"return p.Owner == a.Account }",
			}},
			by: []harness{drill("GHSA-jf2m-hpj9-4qx2"), linear()},
		},
		{
			name: "grant-outlives-delete",
			says: "A delete ends the push, and leaves its files to the grants that were given.",
			edits: []edit{{
				"store/rules.go",
				"		live, held := p.Live(), p.HoldsFiles()\n		p.release()\n",
				"		live, held := p.Live(), p.HoldsFiles()\n",
			}},
			by: []harness{kill(), model()},
		},
	}
}
