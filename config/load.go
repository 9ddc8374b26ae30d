package config

// A Source is where a configuration is read from. Flags win over the
// environment, the environment over the file, the file over the defaults.
type Source struct {
	File    string          // the file; empty: the one that PUSHBOX_CONFIG names, or none
	Environ []string        // as os.Environ returns it
	Flags   map[string]Flag // by key, those that were given
}

// A Flag is a setting given on the command line.
type Flag struct {
	Name  string // for messages, such as --listen
	Value string
}

// Loaded is a configuration that was read without a problem.
type Loaded struct {
	Config Config
	Values []Value // of every setting, in the order of Config's fields
}

// A Value is what a setting was found to be, and why.
type Value struct {
	Key    string
	Value  string // as YAML; a secret is [redacted]
	Origin string // such as "default" or "environment PUSHBOX_LISTEN"
	Reload bool   // a reload applies it; else it needs a restart
}

// Load reads a configuration. Whatever is wrong with it is returned together,
// as a *ProblemsError.
func Load(src Source) (*Loaded, error) {
	l, cfg, err := load(src)
	if err != nil {
		return nil, err
	}
	return &Loaded{Config: cfg, Values: l.values(cfg)}, nil
}

// load is Load, with the loader that knows where everything came from.
func load(src Source) (*loader, Config, error) {
	l := newLoader(src.Environ)
	l.readFile(l.fileName(src.File))
	l.readEnvironment()
	l.readFlags(src.Flags)
	cfg, err := l.decode()
	if err != nil {
		return nil, Config{}, err
	}
	l.findCredential(&cfg)
	if l.complete {
		l.check(cfg)
	}
	if len(l.problems) > 0 {
		return nil, Config{}, &ProblemsError{l.problems}
	}
	return l, cfg, nil
}
