package server

// HelpCommands are the commands that the help page shows, by endpoint.
func (s *Server) HelpCommands(base string) (map[string]string, error) {
	help, err := s.apiHelp(base)
	commands := make(map[string]string)
	for _, e := range help.Endpoints {
		commands[e.ID] = e.Curl
	}
	return commands, err
}
