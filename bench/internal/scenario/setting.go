package scenario

import (
	"context"
	"os"
	"path/filepath"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// Setting is one line of the table of settings: what an operator sees, where, the setting that
// answers it, and what that was measured to change.
type Setting struct {
	Symptom, Shows, Key string
	load                string // if it is another than the usual one
	Trials              []Trial
	run                 func(t *trialServer, ctx context.Context) ([]Result, error)
}

// Trial is one value of a setting.
type Trial struct {
	Value  string // as the table names it
	config string // YAML of the config file
	args   []string
	env    []string
	quiet  bool // no audit log
}

// trialServer is a server that was started with one value.
type trialServer struct {
	*Session
	daemon *server.Daemon
	spec   server.DaemonSpec
}

// Title is the setting, and the load that it was measured under unless that was the usual one.
func (s *Setting) Title() string {
	if s.load == "" {
		return s.Key
	}
	return s.Key + "; " + s.load
}

// Measure starts a server with one value of a setting, and measures it. session gives the session
// of that server; its options say what is started.
func (s *Setting) Measure(ctx context.Context, value Trial, session func(*server.Target) *Session) (_ []Result, err error) {
	t := &trialServer{Session: session(&server.Target{})}
	dir, remove, err := server.DataDir(t.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	t.spec = server.DaemonSpec{
		Binary: t.Start, Dir: dir, Naming: t.Naming, Args: append(t.StartArgs[:len(t.StartArgs):len(t.StartArgs)], value.args...),
		Env: value.env, Audit: t.Audit && !value.quiet, Timeout: t.Request,
	}
	if value.config != "" {
		path := filepath.Join(filepath.Dir(dir), "config.yaml")
		if err := os.WriteFile(path, []byte(value.config), 0o600); err != nil {
			return nil, err
		}
		t.spec.Args = append(t.spec.Args, "--config", path)
	}
	if t.daemon, err = t.spec.Start(); err != nil {
		return nil, err
	}
	defer func() { t.daemon.Kill() }() // the data goes too
	t.Session = session(t.daemon.Target)
	return s.run(t, ctx)
}
