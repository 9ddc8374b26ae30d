package main

// accessFaults are mistakes about who may do what, how often, and who learns of it.
func accessFaults() []fault {
	return []fault{
		{
			name: "guesses-not-limited",
			says: "A wrong passphrase is not counted for the client that sent it.",
			edits: []edit{{
				"store/guess.go",
				"		g.perClient.Add(clientKey(id, client))\n",
				"",
			}},
			by: []harness{drill("GHSA-59w3-h5v2-c4xw")},
		},
		{
			name: "forged-address",
			says: "A forwarding header is believed whoever sent it, so that limits count made-up addresses.",
			edits: []edit{{
				"internal/clientip/clientip.go",
				"	if !peer.trusted {\n		return c\n	}\n",
				"",
			}},
			by: []harness{drill("GHSA-ffp2-8p2h-4m5j"), fuzz("internal/clientip", "FuzzAttacker")},
		},
		{
			name: "copied-cookie-goes-on",
			says: "Signing out takes the cookie away, and leaves the session.",
			edits: []edit{{
				"store/sessions.go",
				"	found, _, err := s.engine.Session(ctx, seal.Digest(session))\n	if err == nil {\n		err = s.engine.RemoveSession(ctx, found.Owner, found.ID)\n	}\n",
				"	_, _, err := s.engine.Session(ctx, seal.Digest(session))\n",
			}},
			by: []harness{drill("GHSA-4fwj-m62q-pp47"), model()},
		},
		{
			name: "head-reveals",
			says: "A HEAD of a push's page is answered like a GET of it, and spends the view.",
			edits: []edit{{
				"server/routes.go",
				`{name: "push", method: head, pattern: page, access: visitor, page: true, public: true, action: s.stepPage},`,
				`{name: "push", method: head, pattern: page, access: visitor, page: true, public: true, action: s.pushPage},`,
			}},
			by: []harness{drill("jhaals-yopass#2154")},
		},
		{
			name: "prefetch-reveals",
			says: "What a browser fetches ahead is taken for a visit, and spends the view.",
			edits: []edit{{
				"server/web_push.go",
				"		if slices.ContainsFunc([]string{\"prefetch\", \"prerender\", \"preview\"}, ahead) {\n",
				"		if slices.ContainsFunc([]string{\"preview\"}, ahead) {\n",
			}},
			by: []harness{drill("jhaals-yopass#2154")},
		},
		{
			name: "token-in-the-log",
			says: "The log has the path of a request, with the link in it, in place of the route.",
			edits: []edit{{
				"server/log.go",
				"		name = r.route.name\n",
				"		name = r.URL.Path\n",
			}},
			by: []harness{drill("2026-06-22_P5")},
		},
		{
			name: "scheme-not-forwarded",
			says: "Links in answers are http, whatever a trusted proxy says of the scheme.",
			edits: []edit{{
				"server/base.go",
				"	return s.proxies.Scheme(r.Request) + \"://\" + host + s.cfg.BasePath, nil\n",
				"	return \"http://\" + host + s.cfg.BasePath, nil\n",
			}},
			by: []harness{proxies()},
		},
		{
			name: "text-without-a-bound",
			says: "What the answers that open a push may take of the memory together has no bound.",
			edits: []edit{{
				"server/api_pushes.go",
				"passphrase, s.roomFor(r, payloadGrows))\n",
				"passphrase, func(int64) error { return nil })\n",
			}},
			by: []harness{slowClients()},
		},
	}
}
