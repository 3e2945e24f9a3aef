package storage

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/test/client"
)

const (
	migrateMarker = "mArKeR-of-a-secret"
)

func encryptionConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	text := fmt.Sprintf(`{"apiVersion":"apiserver.config.platform.io/v1","kind":"EncryptionConfiguration","resources":[{"resources":["secrets"],"providers":[{"aesgcm":{"keys":[{"name":"one","secret":%q}]}},{"identity":{}}]}]}`,
		base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	client.WriteFile(t, path, text)
	return path
}

type migrateCluster struct {
	t       *testing.T
	etcd    *etcdtest.Cluster
	encrypt string
}

func (c migrateCluster) serve(dir string, onEtcd bool) *client.Server {
	return client.Serve(c.t, dir, func(config *daemon.Config) {
		config.Encryption.ConfigFile = c.encrypt
		if onEtcd {
			config.Etcd.Servers = c.etcd.URLs()
		}
	})
}

func (c migrateCluster) migration(dir string) *daemon.Migration {
	m := &daemon.Migration{Config: daemon.Default(), Log: slog.New(slog.NewTextHandler(c.t.Output(), nil))}
	m.DataDir, m.Etcd.Servers, m.Encryption.ConfigFile = dir, c.etcd.URLs(), c.encrypt
	return m
}

// state formats the objects created by clients, without resource versions.
func (c migrateCluster) state(s *client.Server) string {
	c.t.Helper()
	var all []string
	for _, path := range []string{configMaps, secrets, "/api/v1/namespaces/default/services", "/apis/example.com/v1/namespaces/default/things"} {
		list := must.Get(s.List(c.t.Context(), path, nil))(c.t)
		for _, o := range list.Items {
			if o.Name() == "platform" || strings.HasPrefix(o.Name(), "default-token") { // these contain the server's port and CA
				continue
			}
			delete(o.Metadata(), "resourceVersion")
			text := client.Encode(c.t, o)
			all = append(all, string(text))
		}
	}
	return strings.Join(all, "\n")
}

func (c migrateCluster) holds(s *client.Server, want string) {
	c.t.Helper()
	got, all := strings.Split(c.state(s), "\n"), strings.Split(want, "\n")
	for i := range max(len(got), len(all)) {
		if i >= len(got) || i >= len(all) || got[i] != all[i] {
			c.t.Fatalf("%d objects, want %d; the first that differs is\n%s\nwant\n%s", len(got), len(all), got[min(i, len(got)-1)], all[min(i, len(all)-1)])
		}
	}
}

func (c migrateCluster) send(s *client.Server, code int, method, path, body string) client.Answer {
	c.t.Helper()
	contentType := client.JSON
	if method == "PATCH" {
		contentType = client.MergePatch
	}
	a, err := s.Do(c.t.Context(), method, path, contentType, []byte(body))
	if err != nil || a.Code != code {
		c.t.Fatalf("%s %s: %v, %v, want %d", method, path, a, err, code)
	}
	return a
}

const definition = `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","x-platform-preserve-unknown-fields":true}}}}}]}}`

func (c migrateCluster) fill(s *client.Server) {
	c.send(s, 201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", definition)
	for i := range 150 { // more than fit into one transaction
		c.send(s, 201, "POST", configMaps, fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"k":"\"resourceVersion\":\"1\""}}`, i))
	}
	c.send(s, 201, "POST", configMaps, fmt.Sprintf(`{"metadata":{"name":"large"},"data":{"x":%q}}`, strings.Repeat("x", 900_000)))
	c.send(s, 200, "DELETE", configMaps+"/c7", "")
	c.send(s, 200, "PATCH", configMaps+"/c8", `{"data":{"k":"later"}}`)
	c.send(s, 201, "POST", secrets, `{"metadata":{"name":"s"},"stringData":{"k":"`+migrateMarker+`"}}`)
	c.send(s, 201, "POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}}`)
	c.send(s, 201, "POST", "/apis/example.com/v1/namespaces/default/things", `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"a":[1,{"b":null}]}}`)
}

// TestThereAndBack migrates objects to etcd and back. Both stores must have equal objects. Tokens
// and addresses stay valid, resource versions never decrease, and encrypted data stays encrypted.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for name, encrypt := range map[string]string{"in clear": "", "encrypted": encryptionConfig(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := migrateCluster{t, etcdtest.Start(t, 1), encrypt}
			first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
			s := c.serve(first, false)
			c.fill(s)
			want := c.state(s)
			var token struct{ Status struct{ Token string } }
			client.Decode(t, c.send(s, 201, "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", `{}`).Body, &token)
			before := c.version(s)
			if _, err := c.migration(first).ToEtcd(t.Context()); err == nil {
				t.Error("a directory was read that is in use")
			}
			s.Stop(t)
			c.copied(c.migration(first).ToEtcd(t.Context()))
			c.same(first)
			if _, err := c.migration(first).ToEtcd(t.Context()); err == nil || !strings.Contains(err.Error(), "choose another prefix") {
				t.Errorf("into a prefix that is in use: %v", err)
			}
			c.nothingPlain(encrypt != "")

			s = c.serve(t.TempDir(), true)
			c.holds(s, want)
			c.accepts(s, token.Status.Token)
			c.gone(s, before)
			c.send(s, 201, "POST", configMaps, `{"metadata":{"name":"new"}}`)
			c.send(s, 422, "POST", "/api/v1/namespaces/default/services", fmt.Sprintf(`{"metadata":{"name":"twin"},"spec":{"clusterIP":%q,"ports":[{"port":1}]}}`, c.address(s)))
			if n := c.differences(first); n == 0 {
				t.Error("the new object is no difference")
			}
			want, before = c.state(s), c.version(s)
			s.Stop(t)

			c.copied(c.migration(second).ToDataDir(t.Context()))
			c.same(second)
			s = c.serve(second, false)
			c.holds(s, want)
			c.accepts(s, token.Status.Token)
			c.gone(s, before)
			s.Stop(t)
		})
	}
}

func (c migrateCluster) copied(n int, err error) {
	c.t.Helper()
	if err != nil || n < 150 {
		c.t.Fatalf("%d objects copied: %v", n, err)
	}
}

func (c migrateCluster) same(dir string) {
	c.t.Helper()
	if n := c.differences(dir); n > 0 {
		c.t.Fatalf("%d differences", n)
	}
}

func (c migrateCluster) differences(dir string) int {
	c.t.Helper()
	_, n, err := c.migration(dir).Check(c.t.Context(), c.t.Output())
	must.Succeed(c.t, err)
	return n
}

func (c migrateCluster) version(s *client.Server) uint64 {
	c.t.Helper()
	list := must.Get(s.List(c.t.Context(), configMaps, nil))(c.t)
	return list.Version
}

func (c migrateCluster) accepts(s *client.Server, token string) {
	c.t.Helper()
	body := client.Encode(c.t, map[string]any{"spec": map[string]any{"token": token}})
	if a := c.send(s, 201, "POST", "/apis/authentication.platform.io/v1/tokenreviews", string(body)); !strings.Contains(a.String(), `"authenticated":true`) {
		c.t.Errorf("the token from before: %s", a)
	}
}

// gone checks that a watch from version before the migration gets 410, and that the current version
// is higher.
func (c migrateCluster) gone(s *client.Server, before uint64) {
	c.t.Helper()
	if now := c.version(s); now <= before {
		c.t.Errorf("version %d after %d", now, before)
	}
	w := must.Get(s.Watch(c.t.Context(), configMaps, url.Values{"resourceVersion": {strconv.FormatUint(before, 10)}}))(c.t)
	defer w.Close()
	if e, err := w.Next(); err != nil || e.Code() != 410 {
		c.t.Errorf("a watch from before: %v, %v, want 410", e, err)
	}
}

func (c migrateCluster) address(s *client.Server) string {
	o := c.send(s, 200, "GET", "/api/v1/namespaces/default/services/s", "").Object()
	return o["spec"].(map[string]any)["clusterIP"].(string)
}

// nothingPlain checks the values in etcd. If encrypted is true, none may contain the Secret or the
// cluster's keys in plaintext. Otherwise, both must be found.
func (c migrateCluster) nothingPlain(encrypted bool) {
	c.t.Helper()
	found := must.Get(c.etcd.Client().Get(c.t.Context(), "/", clientv3.WithPrefix()))(c.t)
	plain := 0
	for _, kv := range found.Kvs {
		if bytes.Contains(kv.Value, []byte(base64.StdEncoding.EncodeToString([]byte(migrateMarker)))) || strings.Contains(string(kv.Key), "/secrets/keys") && bytes.Contains(kv.Value, []byte("ca.key")) {
			plain++
		}
	}
	if encrypted && plain > 0 || !encrypted && plain != 2 {
		c.t.Errorf("%d secrets are in clear", plain)
	}
}

// TestBackup restores two etcd backups into data directories, one from a server and one directly
// from etcd.
func TestBackup(t *testing.T) {
	t.Parallel()
	c := migrateCluster{t, etcdtest.Start(t, 1), ""}
	s := c.serve(t.TempDir(), true)
	c.fill(s)
	want := c.state(s)
	byDaemon := c.send(s, 200, "GET", daemon.BackupPath, "").Body
	var direct bytes.Buffer
	must.Get(c.migration("").BackupEtcd(t.Context(), &direct))(t)
	s.Stop(t)
	for name, backup := range map[string][]byte{"by the daemon": byDaemon, "without one": direct.Bytes()} {
		dir := filepath.Join(t.TempDir(), "restored")
		if _, err := persist.Restore(dir, persist.Source{Backup: bytes.NewReader(backup)}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := c.serve(dir, false)
		c.holds(s, want)
		s.Stop(t)
	}
}

// TestUnreadable checks that undecryptable objects stop the migration and leave the destination
// empty.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	c := migrateCluster{t, etcdtest.Start(t, 1), encryptionConfig(t)}
	dir := filepath.Join(t.TempDir(), "dir")
	s := c.serve(dir, false)
	c.send(s, 201, "POST", secrets, `{"metadata":{"name":"s"},"stringData":{"k":"v"}}`)
	s.Stop(t)
	without := c.migration(dir)
	without.Encryption.ConfigFile = ""
	if _, err := without.ToEtcd(t.Context()); err == nil || !strings.Contains(err.Error(), "--encryption-provider-config") {
		t.Errorf("without the keys: %v", err)
	}
	if found, err := c.etcd.Client().Get(t.Context(), "/", clientv3.WithPrefix(), clientv3.WithCountOnly()); err != nil || found.Count > 0 {
		t.Errorf("%v, %v", found, err)
	}
	must.Get(c.migration(dir).ToEtcd(t.Context()))(t)
	other := filepath.Join(t.TempDir(), "other")
	without.DataDir = other
	if _, err := without.ToDataDir(t.Context()); err == nil {
		t.Error("copied back without the keys")
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("a directory was left")
	}
}
