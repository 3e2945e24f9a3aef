package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	kms "k8s.io/kms/apis/v2"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// A plugin is a KMS v2 plugin with gRPC on a Unix socket. It encrypts by inverting bits and adding
// its key ID.
type plugin struct {
	kms.UnimplementedKeyManagementServiceServer
	endpoint string
	timeout  string // call timeout in the configuration

	mu        sync.Mutex
	keyID     string // reported in the status
	usedID    string // used for encryption, if it differs
	healthz   string
	fault     error         // returned by every call
	delay     time.Duration // delay before every response
	forgotten map[string]bool
	decrypts  int
}

// startPlugin serves a plugin on a Unix socket until the test ends or stop is called.
func startPlugin(t *testing.T, socket string) (p *plugin, stop func()) {
	t.Helper()
	p = &plugin{endpoint: "unix://" + socket, timeout: "30s", keyID: "key-1", healthz: "ok", forgotten: map[string]bool{}}
	return p, p.listen(t, socket)
}

func (p *plugin) listen(t *testing.T, socket string) (stop func()) {
	t.Helper()
	listener := must.Get(net.Listen("unix", socket))(t)
	server := grpc.NewServer()
	kms.RegisterKeyManagementServiceServer(server, p)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	stop = sync.OnceFunc(func() {
		server.Stop()
		<-ended
	})
	t.Cleanup(stop)
	return stop
}

func (p *plugin) set(change func(p *plugin)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// answer waits for the configured delay and returns the configured error.
func (p *plugin) answer(ctx context.Context) error {
	p.mu.Lock()
	delay, fault := p.delay, p.fault
	p.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(delay):
	}
	return fault
}

func (p *plugin) Status(ctx context.Context, _ *kms.StatusRequest) (*kms.StatusResponse, error) {
	err := p.answer(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	return &kms.StatusResponse{Version: "v2", Healthz: p.healthz, KeyId: p.keyID}, err
}

func (p *plugin) Encrypt(ctx context.Context, r *kms.EncryptRequest) (*kms.EncryptResponse, error) {
	err := p.answer(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.keyID
	if p.usedID != "" {
		id = p.usedID
	}
	return &kms.EncryptResponse{Ciphertext: turn(r.Plaintext), KeyId: id, Annotations: map[string][]byte{"version.example.com": []byte(id)}}, err
}

func (p *plugin) Decrypt(ctx context.Context, r *kms.DecryptRequest) (*kms.DecryptResponse, error) {
	err := p.answer(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decrypts++
	switch {
	case err != nil:
		return nil, err
	case p.forgotten[r.KeyId]:
		return nil, status.Errorf(codes.NotFound, "no key %s", r.KeyId)
	case string(r.Annotations["version.example.com"]) != r.KeyId:
		return nil, errors.New("the annotations are not those of the key")
	}
	return &kms.DecryptResponse{Plaintext: turn(r.Ciphertext)}, nil
}

func turn(b []byte) []byte {
	turned := bytes.Clone(b)
	for i := range turned {
		turned[i] ^= 0xA5
	}
	return turned
}

func (p *plugin) provider(name string) string {
	return fmt.Sprintf("{kms: {apiVersion: v2, name: %s, endpoint: %q, timeout: %s}}", name, p.endpoint, p.timeout)
}

// TestPlugin checks that values are encrypted with a seed, which the plugin encrypts only once.
// After a restart, the daemon calls the plugin once per seed. When the plugin changes its key, the
// daemon switches to the new key.
func TestPlugin(t *testing.T) {
	t.Parallel()
	p, _ := startPlugin(t, filepath.Join(t.TempDir(), "kms.sock"))
	c := newClusterEncryption(t, forSecrets(p.provider("vault"), "{identity: {}}"))
	s := c.serve(t)
	const marker = "mArKeR-of-a-secret"
	for i := range 20 {
		send(t, s, 201, "POST", secrets, secret(fmt.Sprint("a", i), marker))
	}
	send(t, s, 200, "GET", "/readyz/kms-providers", "")
	send(t, s, 404, "GET", "/livez/kms-providers", "")
	if files := grep(t, c.dir, marker); len(files) > 0 {
		t.Errorf("%q hold a Secret in clear", files)
	}
	eventuallyMetric(t, s, `apiserver_envelope_encryption_key_id_hash_total{transformation_type="to_storage",provider_name="vault",`)
	eventuallyMetric(t, s, `apiserver_envelope_encryption_kms_operations_latency_seconds_count{provider_name="vault",method_name="/v2.KeyManagementService/Encrypt",grpc_status_code="OK"} 1`)
	eventuallyMetric(t, s, `apiserver_storage_transformation_operations_total{resource="secrets",transformation_type="to_storage",transformer_prefix="enc:kms:v2:",status="OK"}`)
	s.Stop(t)
	if counts := c.census(t); counts["kms:v2:vault"] < 20 || len(counts) != 1 {
		t.Errorf("stored with %v", counts)
	}

	s = c.serve(t)
	p.set(func(p *plugin) {
		if p.decrypts != 1 {
			t.Errorf("%d seeds were asked for at the start", p.decrypts)
		}
		p.keyID = "key-2"
	})
	s.Stop(t)
	s = c.serve(t) // finds the other key, as a probe a minute later would
	before := send(t, s, 200, "GET", secrets+"/a0", "").Object()
	after := send(t, s, 200, "PUT", secrets+"/a0", before.String()).Object()
	if after.Version() == before.Version() {
		t.Error("an update that changes nothing does not write what is under another key of the plugin")
	}
	if valueOfEncryption(t, s, "a19") != marker {
		t.Error("the value differs")
	}
}

// TestPluginFaults checks plugins that are slow, unhealthy or inconsistent. Writes and the health
// check fail until the plugin recovers, while reads and other resources are not affected.
func TestPluginFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil  func(p *plugin)
		reason string
	}{
		"not well":       {func(p *plugin) { p.healthz = "sealed" }, "got unexpected healthz status"},
		"an error":       {func(p *plugin) { p.fault = status.Error(codes.Internal, "no disk") }, "no disk"},
		"slow":           {func(p *plugin) { p.delay, p.timeout = time.Minute, "500ms" }, "no response within 500ms"},
		"two keys":       {func(p *plugin) { p.usedID = "key-9" }, "but encrypts with"},
		"no id":          {func(p *plugin) { p.keyID = "" }, "keyID is empty"},
		"an enormous id": {func(p *plugin) { p.keyID = strings.Repeat("k", 2000) }, "exceeds the max size"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := startPlugin(t, filepath.Join(t.TempDir(), "kms.sock"))
			p.set(c.spoil)
			cl := newClusterEncryption(t, forSecrets(p.provider("vault"), "{identity: {}}"))
			s := cl.serve(t)
			send(t, s, 500, "POST", secrets, secret("a", "v"))
			send(t, s, 404, "GET", secrets+"/a", "")
			send(t, s, 201, "POST", configMaps, `{"metadata":{"name":"a"}}`)
			send(t, s, 500, "GET", "/healthz/kms-providers", "")
			send(t, s, 200, "GET", "/livez", "")
			if !strings.Contains(cl.log.String(), c.reason) {
				t.Errorf("the log does not contain %q", c.reason)
			}
			p.set(func(p *plugin) { p.healthz, p.fault, p.delay, p.usedID, p.keyID = "ok", nil, 0, "", "key-1" })
			client.Eventually(t, func() error {
				a, err := s.Get(t.Context(), "/healthz/kms-providers")
				if err == nil && a.Code != 200 {
					err = &a
				}
				return err
			})
			send(t, s, 201, "POST", secrets, secret("a", "v"))
		})
	}
}

// TestPluginAtStart checks that the daemon waits for a plugin that starts later, without treating
// objects as lost. A key that the plugin has lost is treated as missing.
func TestPluginAtStart(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "kms.sock")
	p, stop := startPlugin(t, socket)
	c := newClusterEncryption(t, forSecrets(p.provider("vault")))
	s := c.serve(t)
	send(t, s, 201, "POST", secrets, secret("a", "v"))
	s.Stop(t)
	stop()

	started := make(chan *client.Server)
	go func() { started <- c.serve(t) }()
	client.Eventually(t, func() error {
		if !strings.Contains(c.log.String(), "a KMS plugin is not healthy") {
			return errors.New("the daemon has not asked the plugin")
		}
		return nil
	})
	stop = p.listen(t, socket)
	s = <-started
	if valueOfEncryption(t, s, "a") != "v" {
		t.Error("the value differs")
	}
	s.Stop(t)

	p.set(func(p *plugin) { p.forgotten["key-1"], p.keyID = true, "key-2" })
	s = c.serve(t)
	send(t, s, 500, "GET", secrets+"/a", "")
	send(t, s, 201, "POST", secrets, secret("b", "v"))
	s.Stop(t)
	stop()

	config := c.settings()
	d := must.Get(daemon.New(config, c.log))(t)
	if err := d.Start(); err == nil || !strings.Contains(err.Error(), "KMS plugin vault does not decrypt the seed") {
		t.Errorf("started without the plugin: %v", err)
	}
}

// TestReloadNeedsPlugins checks that a configuration takes effect only once its plugins are
// healthy.
func TestReloadNeedsPlugins(t *testing.T) {
	t.Parallel()
	p, _ := startPlugin(t, filepath.Join(t.TempDir(), "kms.sock"))
	p.set(func(p *plugin) { p.healthz = "sealed" })
	c := newClusterEncryption(t, forSecrets(aKey("aesgcm", "one", 1)))
	s := c.serve(t)
	c.configure(t, forSecrets(p.provider("vault"), aKey("aesgcm", "one", 1)))
	eventuallyMetric(t, s, `apiserver_encryption_config_controller_automatic_reloads_total{status="failure"`)
	send(t, s, 201, "POST", secrets, secret("a", "v"))
	p.set(func(p *plugin) { p.healthz = "ok" })
	eventuallyMetric(t, s, fmt.Sprintf(`apiserver_encryption_config_controller_automatic_reloads_total{status="success",apiserver_id_hash="%s"} 1`, serverHash(t, s)))
	send(t, s, 201, "POST", secrets, secret("b", "v"))
	s.Stop(t)
	if counts := c.census(t); counts["kms:v2:vault"] == 0 {
		t.Errorf("stored with %v", counts)
	}
}
