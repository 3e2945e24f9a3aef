package storage

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// TestReload checks that SIGHUP reloads the files that may change at runtime. If a file is invalid,
// its previous content stays in effect.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		client.WriteFile(t, path, text)
		return path
	}
	const policy = "apiVersion: audit.platform.io/v1\nkind: Policy\nrules: [{level: "
	log := filepath.Join(dir, "audit.log")
	p := serveProcess(t, filepath.Join(dir, "data"),
		"--config", write("config", "tls-reload-period: 1m\n"),
		"--token-auth-file", write("tokens", "first,jane,1,system:masters\n"),
		"--audit-policy-file", write("policy", policy+"None}]\n"), "--audit-log-path", log)
	anonymous := p.caller().http
	anonymous.Transport.(*http.Transport).TLSClientConfig.Certificates = nil
	ask := func(token string) int {
		t.Helper()
		r := must.Get(http.NewRequest("GET", p.URL+configMaps, nil))(t)
		r.Header.Set("Authorization", "Bearer "+token)
		answer := must.Get(anonymous.Do(r))(t)
		defer answer.Body.Close()
		return answer.StatusCode
	}
	if code := ask("first"); code != 200 {
		t.Fatalf("the first token is answered %d", code)
	}
	write("tokens", "second,jane,1,system:masters\n")
	write("policy", policy+"Metadata}]\n")
	p.Signal(syscall.SIGHUP)
	eventually(t, "the second token counts", func() bool { return ask("second") == 200 })
	if code := ask("first"); code != 401 {
		t.Errorf("the first token is answered %d", code)
	}
	eventually(t, "requests are audited", func() bool {
		ask("second")
		text, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(text), configMaps)
	})
	eventually(t, "the log says what was reloaded", func() bool {
		text := p.Log.String()
		return strings.Contains(text, "reloaded files") && strings.Contains(text, "token-file") && strings.Contains(text, "audit-policy")
	})
	p.Signal(syscall.SIGHUP)
	eventually(t, "a reload that changes nothing is logged", func() bool { return strings.Contains(p.Log.String(), "reread files without changes") })
	write("tokens", "broken\n")
	p.Signal(syscall.SIGHUP)
	eventually(t, "the fault is logged", func() bool {
		return strings.Contains(p.Log.String(), "what=token-file") && strings.Contains(p.Log.String(), "failed to reload a file")
	})
	if code := ask("second"); code != 200 {
		t.Errorf("with a broken file the second token is answered %d", code)
	}
	p.Stop()
}
