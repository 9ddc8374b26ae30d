package main

// timeFaults are mistakes about when something ends.
func timeFaults() []fault {
	return []fault{
		{
			name: "one-instant-too-long",
			says: "A push is live at the very instant of its end: > for >=.",
			edits: []edit{{
				"store/rules.go",
				"ended = p.Live() && !at.ends.Before(p.ExpiresAt)",
				"ended = p.Live() && at.ends.After(p.ExpiresAt)",
			}},
			by: []harness{model(), clock()},
		},
		{
			name: "wall-clock-believed",
			says: "Time follows the clock of the machine back.",
			edits: []edit{{
				"store/clock.go",
				"			return instant{now: line, denies: line, ends: line}\n",
				"			return instant{now: wall, denies: wall, ends: wall}\n",
			}},
			by: []harness{clock()},
		},
		{
			name: "no-grace-for-a-jump",
			says: "A jump of the clock ahead is believed at once, and what is due by it is destroyed.",
			edits: []edit{{
				"store/clock.go",
				"	if elapsed-k.doubt.since >= doubtLasts {\n",
				"	if elapsed-k.doubt.since >= 0 {\n",
			}},
			by: []harness{clock()},
		},
		{
			name: "expiry-told-and-not-kept",
			says: "Somebody is told that a push has expired, and that is written by the next sweep.",
			edits: []edit{{
				"store/retrieve.go",
				"	files, err := s.issue(p, dek, at)\n",
				"	if ended, _ := at.due(p); ended {\n		p.endIfDue(at)\n		return PushInfo{Push: p, At: at.now, Token: t}, nil\n	}\n	files, err := s.issue(p, dek, at)\n",
			}},
			by: []harness{clock(), model()},
		},
		{
			name: "time-not-kept",
			says: "The greatest time seen is not kept when the store is closed.",
			edits: []edit{{
				"store/store.go",
				"	return errors.Join(s.keepTime(ctx), s.engine.Close())\n",
				"	return s.engine.Close()\n",
			}},
			by: []harness{clock()},
		},
		{
			name: "token-good-for-ever",
			says: "The end of an API token is not looked at.",
			edits: []edit{{
				"store/tokens.go",
				"	case !a.Active(), before(t.ExpiresAt, at.denies), email",
				"	case !a.Active(), email",
			}},
			by: []harness{model()},
		},
		{
			name: "grant-at-its-longest",
			says: "A grant ends when downloads could keep it no longer, not when its window is over.",
			edits: []edit{
				{"store/grant.go", "	case !at.ends.Before(g.ExpiresAt):\n", "	case !at.ends.Before(g.Until):\n"},
				{"store/grant.go", "	case !at.denies.Before(g.ExpiresAt):\n", "	case !at.denies.Before(g.Until):\n"},
			},
			by: []harness{model()},
		},
	}
}
