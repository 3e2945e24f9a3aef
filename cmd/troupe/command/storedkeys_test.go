package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/encryption"
)

func encryptionFile(t *testing.T, name, fill string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n" +
		"  providers: [{aesgcm: {keys: [{name: " + name + ", secret: " + strings.Repeat(fill, 43) + "=}]}}]\n"
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestVerifyNamesKeys checks that verify lists the encryption keys in use and reports values that
// it cannot decrypt.
func TestVerifyNamesKeys(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), encryptionFile(t, "one", "A")
	config := must.Get(daemon.LoadEncryption(file, meta.Kubernetes))(t)
	with := must.Get(encryption.New(config, encryption.Options{}))(t)
	j, err := persist.Open(dir, persist.Options{Transformer: with})
	if err == nil {
		_, err = j.Recover(persist.Recovery{})
	}
	if err == nil {
		_, err = j.Append([]persist.Write{{Key: "/secrets/d/a", Value: []byte("{}"), RevisionOffset: -1}, {Key: "/pods/d/a", Value: []byte("{}"), RevisionOffset: -1}})
	}
	must.Succeed(t, err)
	must.Succeed(t, j.Close())
	for _, c := range []struct {
		args  []string
		ok    bool
		lines []string
	}{
		{nil, true, []string{"key aesgcm:v1:one: 1 values\n", "in clear: 1 values\n"}},
		{[]string{"--encryption-provider-config", file}, true, []string{"0 faults\n", "key aesgcm:v1:one: 1 values\n"}},
		{[]string{"--encryption-provider-config", encryptionFile(t, "one", "B")}, false, []string{`FAULT the value of "/secrets/d/a" at revision 1 cannot be read: it is encrypted with aesgcm:v1:one and cannot be decrypted`}},
		{[]string{"--encryption-provider-config", encryptionFile(t, "two", "A")}, false, []string{"which the encryption configuration does not list for its resource", "key aesgcm:v1:one: 1 values\n"}},
	} {
		var out strings.Builder
		command := root()
		command.SetOut(&out)
		command.SetErr(&out)
		command.SetArgs(append([]string{"verify", "--data-dir", dir}, c.args...))
		if err := command.Execute(); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.args, err)
		}
		for _, line := range c.lines {
			if !strings.Contains(out.String(), line) {
				t.Errorf("%q: no %q in\n%s", c.args, line, out.String())
			}
		}
	}
}
