package storage

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// logLines returns the messages and errors of a log whose lines must all be JSON.
func logLines(t *testing.T, log string) (all []string) {
	t.Helper()
	for line := range strings.Lines(log) {
		var entry struct{ Time, Level, Msg, Error, Name, Key string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time == "" || entry.Level == "" || entry.Msg == "" {
			t.Errorf("not a log line in JSON: %v: %s", err, line)
		}
		all = append(all, entry.Msg+" "+cmp.Or(entry.Key, entry.Name, entry.Error))
	}
	return all
}

// TestLoggingFormat checks that every line of a log is JSON, from warnings about settings to the
// error that ends the process.
func TestLoggingFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	client.WriteFile(t, file, "logging: {format: json}\nmax-connections-per-address: 7\n")
	data := filepath.Join(dir, "data")
	p := serveProcess(t, data, "--config", file, "--v=2", "--admission-control=NamespaceLifecycle")
	if c, err := tls.Dial("tcp", strings.TrimPrefix(p.URL, "https://"), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Errorf("the server accepts TLS 1.1: %v", c.Close())
	}
	p.caller().must(t, 201, "POST", configMaps, numberedConfigMap("logged", 1))
	p.Stop()
	log := logLines(t, strings.Replace(p.Log.String(), p.ReadyLine, "", 1))
	for _, want := range []string{
		"deprecated key in the configuration file logging.format", "deprecated setting max-connections-per-address", "deprecated setting admission-control",
	} {
		found := 0
		for _, line := range log {
			if line == want {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d lines %q, want 1, in %q", found, want, log)
		}
	}
	client.WriteFile(t, file+"x", "prot: 1\n")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"another profile":    {[]string{"--data-dir", data, "--naming=kubernetes"}, "naming profile"},
		"bad value":          {[]string{"--data-dir", data, "--request-timeout=0s"}, "request-timeout"},
		"unknown key":        {[]string{"--data-dir", data, "--config", file + "x"}, `unknown key "prot"`},
		"bad key directory":  {[]string{"--ephemeral", "--tls-cert-file=" + dir + "/none", "--tls-private-key-file=" + dir + "/none"}, "tls-cert-file"},
		"unusable directory": {[]string{"--data-dir", file}, "not a directory"},
	} {
		code, text := command(t, append([]string{"serve", "--logging-format=json", "--secure-port=0"}, test.args...)...)
		log := logLines(t, text)
		if code != 1 || len(log) == 0 || !strings.HasPrefix(log[len(log)-1], "the server has failed ") || !strings.Contains(log[len(log)-1], test.want) {
			t.Errorf("%s: exit status %d, want 1 and %q at the end of %q", name, code, test.want, log)
		}
	}
}
