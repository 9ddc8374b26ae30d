package main

// keepFaults are mistakes in what a box needs to be run for years: backups, keys,
// upgrades, and what is told to others.
func keepFaults() []fault {
	return []fault{
		{
			name: "restored-live",
			says: "A restore leaves what was live in the backup live.",
			edits: []edit{{
				"store/rules_restore.go",
				"		case keepLive:\n",
				"		case keepLive || p.Live():\n",
			}},
			by: []harness{{row: "Backup", pkg: ".", test: "TestNoLinkDeliversMoreThanItsLimitAcrossARestore"}},
		},
		{
			name: "ring-before-key",
			says: "The key ring is sealed under a new master key before that is durable.",
			edits: []edit{
				{
					"store/rootkey.go",
					"	if err := slot.Stage(next); err != nil {\n		return KeyRotation{}, fmt.Errorf(\"%w: the key file %s cannot be replaced: %w\", ErrDenied, slot.Path(), err)\n	}\n",
					"",
				},
				{
					"store/rootkey.go",
					"	s.root.key = next\n",
					"	if err := slot.Stage(next); err != nil {\n		return KeyRotation{}, err\n	}\n	s.root.key = next\n",
				},
			},
			by: []harness{{row: "Key rotation", pkg: "internal/cli", test: "TestAPowerCutDuringARotationOfTheKeyDoesNoHarm"}},
		},
		{
			name: "change-untold",
			says: "What is to be told of a change is not put into the outbox.",
			edits: []edit{{
				"store/bolt/push.go",
				"			c.Entry.Messages, err = t.putMessages(c.Entry.Messages, *db.limits.Load())\n",
				"			c.Entry.Messages = nil\n",
			}},
			by: []harness{{row: "Webhooks", pkg: ".", test: "TestEachCountedViewIsToldAndNoOther"}},
		},
		{
			name: "create-without-letters",
			says: "A create puts no letters into the outbox.",
			edits: []edit{{
				"store/bolt/push.go",
				"		if err := t.post(e.Post, *db.limits.Load()); err != nil {\n			return err\n		}\n		if err := t.createPush(",
				"		if err := t.createPush(",
			}},
			by: []harness{{row: "Mail", pkg: ".", test: "TestEachAcknowledgedCreateHasItsMailSent"}},
		},
	}
}
