package storage

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

const ()

func aKey(algorithm, name string, fill byte) string {
	secret := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, 32))
	return fmt.Sprintf("{%s: {keys: [{name: %s, secret: %s}]}}", algorithm, name, secret)
}

func forSecrets(providers ...string) string {
	return "apiVersion: apiserver.config.platform.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers: [" +
		strings.Join(providers, ", ") + "]\n"
}

// An encryptionCluster is a data directory and its encryption configuration file.
type encryptionCluster struct {
	dir, file string
	log       *client.Log
}

func newClusterEncryption(t *testing.T, config string) *encryptionCluster {
	t.Helper()
	c := &encryptionCluster{dir: t.TempDir(), file: filepath.Join(t.TempDir(), "encryption.yaml"), log: &client.Log{}}
	c.configure(t, config)
	return c
}

// configure replaces the configuration file atomically, as operators should.
func (c *encryptionCluster) configure(t *testing.T, config string) {
	t.Helper()
	client.WriteFile(t, c.file+".new", config)
	must.Succeed(t, os.Rename(c.file+".new", c.file))
}

// settings returns a daemon configuration that reloads the file within milliseconds and uses small
// segments. Token Secrets for service accounts are disabled, because tests count Secrets.
func (c *encryptionCluster) settings() daemon.Config {
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort, config.Controllers = c.dir, 0, client.WithoutRoots+",-serviceaccount-token-secret-controller"
	config.Encryption = daemon.Encryption{ConfigFile: c.file, AutomaticReload: true, ReloadPeriod: daemon.Duration(5e6)}
	config.Journal.SegmentBytes = 1 << 20
	return config
}

func (c *encryptionCluster) serve(t *testing.T) *client.Server {
	t.Helper()
	return client.ServeConfig(t, c.settings(), c.log)
}

// grep returns the files below a directory that contain text in plain or base64 form.
func grep(t *testing.T, dir, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil // removed in the meantime
		}
		for _, form := range []string{text, base64.StdEncoding.EncodeToString([]byte(text))} {
			if bytes.Contains(data, []byte(form)) {
				files = append(files, path)
			}
		}
		return err
	})
	must.Succeed(t, err)
	return files
}

func secret(name, value string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":%q,"labels":{"l":%q}},"stringData":{"v":%q}}`, name, name, value)
}

// contentTypes are the media types of request bodies, by method.
var contentTypes = map[string]string{"POST": client.JSON, "PUT": client.JSON, "DELETE": client.JSON, "PATCH": "application/merge-patch+json"}

func send(t *testing.T, s *client.Server, code int, method, path, body string) client.Answer {
	t.Helper()
	var b any
	if body != "" {
		b = []byte(body)
	}
	a := must.Get(s.Do(t.Context(), method, path, contentTypes[method], b))(t)
	if a.Code != code {
		t.Fatalf("%s %s: %s, want %d", method, path, a, code)
	}
	return a
}

func valueOfEncryption(t *testing.T, s *client.Server, name string) string {
	t.Helper()
	o := send(t, s, 200, "GET", secrets+"/"+name, "").Object()
	value := must.Get(base64.StdEncoding.DecodeString(o.Data("v")))(t)
	return string(value)
}

// eventuallyMetric waits until a line in /metrics starts with the given text.
func eventuallyMetric(t *testing.T, s *client.Server, line string) {
	t.Helper()
	client.Eventually(t, func() error {
		a, err := s.Get(t.Context(), "/metrics")
		if err == nil && !strings.Contains(string(a.Body), "\n"+line) {
			err = fmt.Errorf("no line %s", line)
		}
		return err
	})
}
