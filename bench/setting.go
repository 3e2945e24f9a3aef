package main

import (
	"context"
	"os"
	"path/filepath"
)

// setting is one line of the table of settings: what an operator sees, where, the setting that
// answers it, and what that was measured to change.
type setting struct {
	symptom, shows, key string
	load                string // if it is another than the usual one
	trials              []trial
	run                 func(t *trialServer, ctx context.Context) ([]Result, error)
}

// trial is one value of a setting.
type trial struct {
	value  string // as the table names it
	config string // YAML of the config file
	args   []string
	env    []string
	quiet  bool // no audit log
}

// trialServer is a server that was started with one value.
type trialServer struct {
	*Session
	daemon *Daemon
	spec   daemonSpec
}

// title is the setting, and the load that it was measured under unless that was the usual one.
func (s *setting) title() string {
	if s.load == "" {
		return s.key
	}
	return s.key + "; " + s.load
}

// measure starts a server with one value of a setting, and measures it. session gives the session
// of that server; its options say what is started.
func (s *setting) measure(ctx context.Context, value trial, session func(*Target) *Session) (_ []Result, err error) {
	t := &trialServer{Session: session(&Target{})}
	dir, remove, err := dataDir(t.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	t.spec = daemonSpec{
		binary: t.Start, dir: dir, naming: t.Naming, args: append(t.StartArgs[:len(t.StartArgs):len(t.StartArgs)], value.args...),
		env: value.env, audit: t.Audit && !value.quiet, timeout: t.Request,
	}
	if value.config != "" {
		path := filepath.Join(filepath.Dir(dir), "config.yaml")
		if err := os.WriteFile(path, []byte(value.config), 0o600); err != nil {
			return nil, err
		}
		t.spec.args = append(t.spec.args, "--config", path)
	}
	if t.daemon, err = t.spec.start(); err != nil {
		return nil, err
	}
	defer func() { t.daemon.Kill() }() // the data goes too
	t.Session = session(t.daemon.Target)
	return s.run(t, ctx)
}
