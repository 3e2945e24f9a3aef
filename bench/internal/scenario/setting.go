package scenario

import (
	"context"
	"os"
	"path/filepath"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// Setting is one line of the table of settings: what an operator sees, where, the setting that answers it,
// and what that was measured to change. An operator comes from a symptom, so the table is ordered by these
// and not by keys.
type Setting struct {
	Symptom, Shows, Key string
	load                string // if it is another than the usual one
	Trials              []Trial
	run                 func(t *trialServer, ctx context.Context) ([]Result, error)
}

// Trial is one value of a setting. A value is given in whichever way it can be: the file, a flag, or the
// environment.
type Trial struct {
	Value  string // as the table names it
	config string // YAML of the config file
	args   []string
	env    []string
	quiet  bool // no audit log
}

// trialServer is a server that was started with one value. A run may start it again over the same data, by
// spec.
type trialServer struct {
	*Session
	daemon *server.Daemon
	spec   server.DaemonSpec
}

// Title is the setting, and the load that it was measured under unless that was the usual one. It is a cell
// of the table.
func (s *Setting) Title() string {
	if s.load == "" {
		return s.Key
	}
	return s.Key + "; " + s.load
}

// Measure starts a server with one value of a setting, and measures it. session gives the session of that
// server; its options say what is started. Every value has a fresh data directory, so no value profits from
// what another has written.
func (s *Setting) Measure(ctx context.Context, value Trial, session func(*server.Target) *Session) (_ []Result, err error) {
	t := &trialServer{Session: session(&server.Target{})}
	dir, remove, err := server.DataDir(t.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	// The arguments are capped at their length, so that append copies them: all trials share those of the run.
	t.spec = server.DaemonSpec{
		Binary: t.Start, Dir: dir, Etcd: t.StartEtcd, Naming: t.Naming, Args: append(t.StartArgs[:len(t.StartArgs):len(t.StartArgs)], value.args...),
		Env: value.env, Audit: t.Audit && !value.quiet, Timeout: t.Request,
	}
	if value.config != "" {
		// The file is beside the data directory, in which the daemon expects nothing that is not its own.
		path := filepath.Join(filepath.Dir(dir), "config.yaml")
		if err := os.WriteFile(path, []byte(value.config), 0o600); err != nil {
			return nil, err
		}
		t.spec.Args = append(t.spec.Args, "--config", path)
	}
	if t.daemon, err = t.spec.Start(); err != nil {
		return nil, err
	}
	// The field is read when the function returns: a run may have started another daemon meanwhile.
	defer func() { t.daemon.Kill() }() // the data goes too
	t.Session = session(t.daemon.Target)
	return s.run(t, ctx)
}
