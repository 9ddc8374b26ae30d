package server

// HelpCommands are the commands that the help page shows, by endpoint.
func (s *Server) HelpCommands(base string) map[string]string {
	commands := make(map[string]string)
	for _, e := range s.apiHelp(base).Endpoints {
		commands[e.ID] = e.Curl
	}
	return commands
}
