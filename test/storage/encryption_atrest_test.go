package storage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/encryption"
	"github.com/troupe-api/troupe/test/client"
)

// TestNothingPlainReachesTheDisk checks that the data directory and backups do not contain a
// Secret's plaintext. It covers creates, deletes, snapshots, compaction, and label changes, which
// also store the previous state. As a control, the plaintext of an unencrypted object must be
// found.
func TestNothingPlainReachesTheDisk(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"aesgcm", "aescbc", "secretbox"} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			const marker = "mArKeR-of-a-secret"
			c := newClusterEncryption(t, forSecrets(aKey(algorithm, "one", 1)))
			config := c.settings()
			config.Snapshots.JournalBytes = 1 << 20
			s := client.ServeConfig(t, config, c.log)
			send(t, s, 201, "POST", secrets, secret("kept", marker))
			send(t, s, 201, "POST", secrets, secret("gone", marker))
			send(t, s, 200, "PATCH", secrets+"/kept", `{"metadata":{"labels":{"l":"other","m":"`+marker+`"}}}`)
			send(t, s, 200, "DELETE", secrets+"/gone", "")
			send(t, s, 201, "POST", configMaps, `{"metadata":{"name":"plain"},"data":{"v":"in-clear-`+algorithm+`"}}`)
			check := func(when string) {
				t.Helper()
				if files := grep(t, c.dir, marker); len(files) > 0 {
					t.Errorf("%s: %q hold a Secret in clear", when, files)
				}
			}
			check("after writes")
			if len(grep(t, c.dir, "in-clear-"+algorithm)) == 0 {
				t.Error("nothing is found of what is not encrypted")
			}
			fill := strings.Repeat("x", 200<<10)
			for i := range 8 {
				send(t, s, 201, "POST", configMaps, fmt.Sprintf(`{"metadata":{"name":"fill-%d"},"data":{"v":%q}}`, i, fill))
			}
			client.Eventually(t, func() error {
				if found, err := filepath.Glob(filepath.Join(c.dir, "snapshots", "*.manifest")); len(found) == 0 {
					return fmt.Errorf("no snapshot: %v", err)
				}
				return nil
			})
			check("after a snapshot")
			backup := send(t, s, 200, "GET", daemon.BackupPath, "").Body
			if bytes.Contains(backup, []byte(marker)) || !bytes.Contains(backup, []byte("in-clear-"+algorithm)) {
				t.Error("the backup holds a Secret in clear, or not the rest")
			}
			s.Stop(t)
			check("after the end")

			s = c.serve(t)
			if got := valueOfEncryption(t, s, "kept"); got != marker {
				t.Errorf("after a restart: %q", got)
			}
			s.Stop(t)
			restored := &encryptionCluster{dir: t.TempDir(), file: c.file, log: c.log}
			must.Get(persist.Restore(restored.dir, persist.Source{Backup: bytes.NewReader(backup)}))(t)
			if files := grep(t, restored.dir, marker); len(files) > 0 {
				t.Errorf("restored: %q hold a Secret in clear", files)
			}
			s = restored.serve(t)
			if got := valueOfEncryption(t, s, "kept"); got != marker {
				t.Errorf("after a restore: %q", got)
			}
		})
	}
}

// census counts the stored values of Secrets by encryption provider and key.
func (c *encryptionCluster) census(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	must.Get(persist.Verify(c.dir, &bytes.Buffer{}, persist.Checks{Value: func(at persist.Place, stored []byte) error {
		if strings.HasPrefix(at.Key, "/secrets/") {
			counts[encryption.Provider(stored)]++
		}
		return nil
	}}))(t)
	return counts
}

// TestRotation checks key rotation. The first no-op update rewrites an object with the new key, and
// later ones have no effect. A changed configuration file takes effect without a restart, and the
// next snapshot needs only the new key. An invalid file is reported and ignored.
func TestRotation(t *testing.T) {
	t.Parallel()
	one, two := aKey("aesgcm", "one", 1), aKey("secretbox", "two", 2)
	c := newClusterEncryption(t, forSecrets("{identity: {}}"))
	config := c.settings()
	config.Watches.HistoryTime = daemon.Duration(1e6)
	s := client.ServeConfig(t, config, c.log)
	send(t, s, 201, "POST", secrets, secret("a", "v"))
	send(t, s, 201, "POST", configMaps, `{"metadata":{"name":"busy"}}`)
	touch := func(changes bool) {
		t.Helper()
		before := send(t, s, 200, "GET", secrets+"/a", "").Object()
		text := client.Encode(t, before)
		after := send(t, s, 200, "PUT", secrets+"/a", string(text)).Object()
		if changed := after.Version() != before.Version(); changed != changes {
			t.Errorf("an update that changes nothing: version %d after %d", after.Version(), before.Version())
		}
	}
	touch(false)
	reloads := 0
	reload := func(config string) {
		t.Helper()
		c.configure(t, config)
		reloads++
		eventuallyMetric(t, s, fmt.Sprintf(`apiserver_encryption_config_controller_automatic_reloads_total{status="success",apiserver_id_hash="%s"} %d`, serverHash(t, s), reloads))
	}
	onlyNeeds := func(key string) {
		t.Helper()
		n := 0
		client.Eventually(t, func() error {
			// Write an object, because segments before a snapshot are removed only after a newer
			// segment exists.
			n++
			send(t, s, 200, "PATCH", configMaps+"/busy", fmt.Sprintf(`{"data":{"n":"%d"}}`, n))
			if counts := c.census(t); len(counts) != 1 || counts[key] == 0 {
				return fmt.Errorf("the disk needs %v", counts)
			}
			return nil
		})
	}
	reload(forSecrets(one, "{identity: {}}"))
	touch(true)
	touch(false)
	onlyNeeds("aesgcm:v1:one")
	reload(forSecrets(two, one))
	touch(true)
	touch(false)
	if a := send(t, s, 200, "PATCH", secrets+"/a", `{}`).Object(); a.Version() == 0 {
		t.Error(a)
	}
	onlyNeeds("secretbox:v1:two")

	c.configure(t, forSecrets("{aesgcm: {keys: [{name: x, secret: abc}]}}"))
	eventuallyMetric(t, s, `apiserver_encryption_config_controller_automatic_reloads_total{status="failure"`)
	client.Eventually(t, func() error {
		if !strings.Contains(c.log.String(), "resources[0].providers[0].aesgcm.keys[0].secret") {
			return errors.New("the log does not name the fault")
		}
		return nil
	})
	send(t, s, 201, "POST", secrets, secret("b", "v"))
	s.Stop(t)
	if counts := c.census(t); counts["secretbox:v1:two"] == 0 || len(counts) != 1 {
		t.Errorf("after a broken file the disk needs %v", counts)
	}
	must.Get(daemon.New(config, nil))(t)
	d := must.Get(daemon.New(config, nil))(t)
	if err := d.Start(); err == nil || !strings.Contains(err.Error(), "--encryption-provider-config: "+c.file+`: EncryptionConfiguration "" is invalid: resources[0].providers[0]`) {
		t.Errorf("started with a broken file: %v", err)
	}
	c.configure(t, forSecrets(two))
	s = c.serve(t)
	if valueOfEncryption(t, s, "a") != "v" || valueOfEncryption(t, s, "b") != "v" {
		t.Error("the values are others")
	}
}

func serverHash(t *testing.T, s *client.Server) string {
	t.Helper()
	_, rest, _ := strings.Cut(string(send(t, s, 200, "GET", "/metrics", "").Body), `last_config_info{apiserver_id_hash="`)
	hash, _, _ := strings.Cut(rest, `"`)
	return hash
}

// TestMissingKey checks objects whose encryption key is missing. Requests for them fail. The server
// reports them and serves all others. Snapshots keep them, so that they reappear once the key is
// restored. They can be deleted like other unreadable objects.
func TestMissingKey(t *testing.T) {
	t.Parallel()
	one, two := aKey("aesgcm", "one", 1), aKey("aescbc", "two", 2)
	c := newClusterEncryption(t, forSecrets(one))
	s := c.serve(t)
	for _, name := range []string{"a", "b"} {
		send(t, s, 201, "POST", secrets, secret(name, "v"))
	}
	send(t, s, 201, "POST", configMaps, `{"metadata":{"name":"plain"}}`)
	s.Stop(t)

	c.configure(t, forSecrets(two))
	for range 2 { // after replaying the journal, and after a snapshot
		s = c.serve(t)
		refused := send(t, s, 500, "GET", secrets+"/a", "")
		if !strings.Contains(string(refused.Body), "StorageReadError") {
			t.Errorf("refused with %s", refused)
		}
		send(t, s, 409, "POST", secrets, secret("a", "other"))
		send(t, s, 500, "PATCH", secrets+"/a", `{"metadata":{"labels":{"x":"y"}}}`)
		send(t, s, 200, "GET", configMaps+"/plain", "")
		metrics := string(send(t, s, 200, "GET", "/metrics", "").Body)
		if !strings.Contains(metrics, "troupe_unreadable_objects 2\n") {
			t.Error("the metrics do not count what cannot be read")
		}
		if !strings.Contains(c.log.String(), "it is encrypted with aesgcm:v1:one, which the encryption configuration does not list for its resource") {
			t.Error("the log does not say why")
		}
		s.Stop(t)
	}
	s = c.serve(t)
	send(t, s, 200, "DELETE", secrets+"/b?dryRun=All&ignoreStoreReadErrorWithClusterBreakingPotential=true", "")
	send(t, s, 500, "GET", secrets+"/b", "")
	send(t, s, 200, "DELETE", secrets+"/b", `{"apiVersion":"v1","kind":"DeleteOptions","ignoreStoreReadErrorWithClusterBreakingPotential":true}`)
	send(t, s, 201, "POST", secrets, secret("b", "new"))
	s.Stop(t)
	c.configure(t, forSecrets(two, one))
	s = c.serve(t)
	if a, b := valueOfEncryption(t, s, "a"), valueOfEncryption(t, s, "b"); a != "v" || b != "new" {
		t.Errorf("with the key again: %q, %q", a, b)
	}
	s.Stop(t)

	plain := c.settings()
	plain.Encryption = daemon.Default().Encryption
	s = client.ServeConfig(t, plain, c.log)
	send(t, s, 500, "GET", secrets+"/a", "")
	send(t, s, 200, "GET", configMaps+"/plain", "")
}

// TestWatchAcrossALostKey checks that a watch that resumes before changes with a missing encryption
// key gets 410, not DELETED events.
func TestWatchAcrossALostKey(t *testing.T) {
	t.Parallel()
	c := newClusterEncryption(t, forSecrets(aKey("aesgcm", "one", 1)))
	s := c.serve(t)
	from := send(t, s, 201, "POST", secrets, secret("a", "1")).Object().Version()
	send(t, s, 200, "PATCH", secrets+"/a", `{"stringData":{"v":"2"}}`)
	last := send(t, s, 201, "POST", configMaps, `{"metadata":{"name":"plain"}}`).Object().Version()
	s.Stop(t)
	c.configure(t, forSecrets(aKey("aesgcm", "two", 2)))
	s = c.serve(t)
	if a := send(t, s, 200, "GET", fmt.Sprintf("%s?watch=1&timeoutSeconds=1&resourceVersion=%d", secrets, from), ""); !strings.Contains(string(a.Body), `"code":410`) {
		t.Errorf("the watch from before: %s", a.Body)
	}
	send(t, s, 200, "GET", fmt.Sprintf("%s?watch=1&timeoutSeconds=1&resourceVersion=%d", secrets, last), "")
}

// TestMovedRows checks that an attacker with access to the files cannot swap the values of two
// Secrets or insert a plaintext Secret. The server does not serve such Secrets.
func TestMovedRows(t *testing.T) {
	t.Parallel()
	c := newClusterEncryption(t, forSecrets(aKey("aesgcm", "one", 1)))
	s := c.serve(t)
	send(t, s, 201, "POST", secrets, secret("mine", "public"))
	send(t, s, 201, "POST", secrets, secret("other", "private"))
	s.Stop(t)
	rows := map[string][]byte{}
	must.Get(persist.Verify(c.dir, &bytes.Buffer{}, persist.Checks{Value: func(at persist.Place, stored []byte) error {
		if !at.Metadata {
			rows[at.Key] = bytes.Clone(stored)
		}
		return nil
	}}))(t)
	j := must.Get(persist.Open(c.dir, persist.Options{}))(t)
	must.Get(j.Recover(persist.Recovery{}))(t)
	must.Get(j.Append([]persist.Write{
		{Key: "/secrets/default/mine", Value: rows["/secrets/default/other"], RevisionOffset: -1},
		{Key: "/secrets/default/slipped", Value: []byte(`{"metadata":{"name":"slipped","namespace":"default"}}`), RevisionOffset: -1},
	}))(t)
	must.Succeed(t, j.Close())
	s = c.serve(t)
	send(t, s, 500, "GET", secrets+"/mine", "")
	send(t, s, 500, "GET", secrets+"/slipped", "")
	if got := valueOfEncryption(t, s, "other"); got != "private" {
		t.Errorf("the other one: %q", got)
	}
}

// TestPrecedence checks that the most specific entry for a resource applies, and that a wildcard
// covers custom resources.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	entry := func(resources, provider string) string {
		return "- resources: [" + resources + "]\n  providers: [" + provider + "]\n"
	}
	c := newClusterEncryption(t, "apiVersion: apiserver.config.platform.io/v1\nkind: EncryptionConfiguration\nresources:\n"+
		entry("configmaps", "{identity: {}}")+entry("secrets", aKey("aesgcm", "secrets", 1))+
		entry("'*.apps'", aKey("aesgcm", "apps", 2))+entry("'*.*'", aKey("aesgcm", "any", 3)+", {identity: {}}"))
	s := c.serve(t)
	send(t, s, 201, "POST", secrets, secret("a", "v"))
	send(t, s, 201, "POST", configMaps, `{"metadata":{"name":"a"}}`)
	send(t, s, 201, "POST", "/apis/apps/v1/namespaces/default/controllerrevisions", `{"metadata":{"name":"a"},"revision":1,"data":{"x":1}}`)
	s.Stop(t)
	found := map[string]string{}
	must.Get(persist.Verify(c.dir, &bytes.Buffer{}, persist.Checks{Value: func(at persist.Place, stored []byte) error {
		found[at.Key] = encryption.Provider(stored)
		return nil
	}}))(t)
	for key, want := range map[string]string{
		"/secrets/default/a": "aesgcm:v1:secrets", "/configmaps/default/a": "identity",
		"apps/controllerrevisions/default/a": "aesgcm:v1:apps", "/namespaces//default": "aesgcm:v1:any",
	} {
		if found[key] != want {
			t.Errorf("%s is stored with %q, want %q", key, found[key], want)
		}
	}
}

// TestMissingFile checks that the error for a missing configuration file contains its flag.
func TestMissingFile(t *testing.T) {
	t.Parallel()
	c := newClusterEncryption(t, forSecrets("{identity: {}}"))
	must.Succeed(t, os.Remove(c.file))
	d := must.Get(daemon.New(c.settings(), nil))(t)
	if err := d.Start(); err == nil || !strings.Contains(err.Error(), "--encryption-provider-config") {
		t.Errorf("started without its file: %v", err)
	}
}

// objectsEncryption returns the number of Secrets in TestRotationWhileWriting, 200 unless
// TROUPE_ENCRYPTION_OBJECTS is set.
func objectsEncryption() int {
	if n, err := strconv.Atoi(os.Getenv("TROUPE_ENCRYPTION_OBJECTS")); err == nil {
		return n
	}
	return 200
}

// TestRotationWhileWriting rotates keys repeatedly while clients write. At the end, every
// acknowledged value must exist. After no-op updates, only the last key must be needed.
func TestRotationWhileWriting(t *testing.T) {
	t.Parallel()
	n, one, two := objectsEncryption(), aKey("aesgcm", "one", 1), aKey("secretbox", "two", 2)
	c := newClusterEncryption(t, forSecrets(one, two))
	s := c.serve(t)
	var writers sync.WaitGroup
	stop := make(chan struct{})
	const each = 4
	acked := make([]int, n)
	for w := range each {
		writers.Go(func() {
			for round := 0; ; round++ {
				for i := w; i < n; i += each {
					method, path, code := "PATCH", secrets+"/"+fmt.Sprint("s", i), 200
					body := fmt.Sprintf(`{"stringData":{"v":"%d"}}`, round)
					if round == 0 {
						method, path, body, code = "POST", secrets, secret(fmt.Sprint("s", i), "0"), 201
					}
					a, err := s.Do(t.Context(), method, path, contentTypes[method], []byte(body))
					if err != nil || a.Code != code {
						t.Errorf("%s: %v, %v", path, a, err)
						return
					}
					acked[i] = round
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	hash := serverHash(t, s)
	for turn := 1; turn <= 6; turn++ {
		c.configure(t, forSecrets([]string{one, two}[turn%2], []string{two, one}[turn%2])+fmt.Sprintf("# %d\n", turn))
		eventuallyMetric(t, s, fmt.Sprintf(`apiserver_encryption_config_controller_automatic_reloads_total{status="success",apiserver_id_hash="%s"} %d`, hash, turn))
	}
	close(stop)
	writers.Wait()
	if t.Failed() {
		return
	}
	list, err := s.List(t.Context(), secrets, nil)
	if err != nil || len(list.Items) != n {
		t.Fatalf("%d Secrets: %v", len(list.Items), err)
	}
	for _, o := range list.Items {
		text := client.Encode(t, o)
		send(t, s, 200, "PUT", secrets+"/"+o.Name(), string(text))
	}
	s.Stop(t)
	c.configure(t, forSecrets(one))
	s = c.serve(t)
	for i := range n {
		if got := valueOfEncryption(t, s, fmt.Sprint("s", i)); got != fmt.Sprint(acked[i]) {
			t.Errorf("s%d is %q, acknowledged was %d", i, got, acked[i])
		}
	}
}
