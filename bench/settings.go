package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// setting is one line of the table of settings: what an operator sees, where, the setting that
// answers it, and what that was measured to change.
type setting struct {
	symptom, shows, key string
	load                string // if it is another than the usual one
	trials              []trial
	measure             func(t *trialServer, ctx context.Context) ([]Result, error)
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

// measureSettings measures all settings and puts their table between the marks of a Markdown file.
func (b *Bench) measureSettings(ctx context.Context) error {
	var lines strings.Builder
	lines.WriteString("\n| Symptom | Shows as | Setting | Measured |\n|---|---|---|---|\n")
	for _, setting := range settings() {
		b.log("%s …", setting.key)
		var measured []string
		for _, trial := range setting.trials {
			results, err := b.runTrial(ctx, setting, trial)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", setting.key, trial.value, err)
			}
			var figures []string
			for _, result := range results {
				row := newRow(fmt.Sprintf("%s %s, %s", setting.key, trial.value, result.Name), "", result.Sample, result.Figure)
				b.Report.add(row)
				figures = append(figures, result.text(row))
			}
			measured = append(measured, fmt.Sprintf("%s: %s", trial.value, strings.Join(figures, ", ")))
		}
		_, _ = fmt.Fprintf(&lines, "| %s | %s | %s | %s |\n", setting.symptom, setting.shows, setting.title(), strings.Join(measured, "<br>"))
	}
	return replaceSection(b.Options.Settings, "settings", b.Report.Origin.line()+lines.String())
}

// title is the setting, and the load that it was measured under unless that was the usual one.
func (s *setting) title() string {
	if s.load == "" {
		return s.key
	}
	return s.key + "; " + s.load
}

// text is a result as the table of settings tells it.
func (r Result) text(row *Row) string {
	switch {
	case r.Figure != nil:
		return figureCell(r.Figure)
	case row.CPU != nil:
		return fmt.Sprintf("%s CPU per %s", span(*row.CPU), r.Name)
	}
	return fmt.Sprintf("%s per %s", span(row.P50), r.Name)
}

// runTrial starts a server with one value of a setting and measures it.
func (b *Bench) runTrial(ctx context.Context, setting setting, trial trial) (_ []Result, err error) {
	o := &b.Options
	dir, remove, err := dataDir(o.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	t := &trialServer{spec: daemonSpec{
		binary: o.Start, dir: dir, naming: o.Naming, args: append(o.StartArgs[:len(o.StartArgs):len(o.StartArgs)], trial.args...),
		env: trial.env, audit: o.Audit && !trial.quiet, timeout: o.Request,
	}}
	if trial.config != "" {
		path := filepath.Join(filepath.Dir(dir), "config.yaml")
		if err := os.WriteFile(path, []byte(trial.config), 0o600); err != nil {
			return nil, err
		}
		t.spec.args = append(t.spec.args, "--config", path)
	}
	if t.daemon, err = t.spec.start(); err != nil {
		return nil, err
	}
	defer func() { t.daemon.Kill() }() // the data goes too
	t.Session = b.session(t.daemon.Target)
	return setting.measure(t, ctx)
}
