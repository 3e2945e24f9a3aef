package certs

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func memoryBinding(sums map[string]string) *Binding {
	return &Binding{
		Get: func(name string) (string, bool) { value, ok := sums[name]; return value, ok },
		Set: func(name, value string) error { sums[name] = value; return nil },
		Log: slog.New(slog.DiscardHandler),
	}
}

var bindingNames = []string{"localhost"}

func boundStore(t *testing.T) (Store, Set) {
	t.Helper()
	s := Store{Dir: t.TempDir(), Binding: memoryBinding(map[string]string{})}
	set, err := s.Ensure(bindingNames)
	if err != nil {
		t.Fatal(err)
	}
	return s, set
}

func contentOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		content[e.Name()] = string(text)
	}
	return content
}

func TestLostFiles(t *testing.T) {
	_, foreign := boundStore(t)
	pairs := map[string]*Pair{
		"ca": foreign.CA, "front-proxy-ca": foreign.ProxyCA, "server": foreign.Server, "admin": foreign.Admin, "front-proxy-client": foreign.ProxyClient,
		"apiserver-kubelet-client": foreign.KubeletClient,
	}
	for name, other := range pairs {
		for label, harm := range map[string]func(s Store, cert, key string) error{
			"certificate lost": func(_ Store, cert, _ string) error { return os.Remove(cert) },
			"key lost":         func(_ Store, _, key string) error { return os.Remove(key) },
			"key of another":   func(_ Store, _, key string) error { return os.WriteFile(key, other.KeyPEM, 0o600) },
			"another pair": func(_ Store, cert, key string) error {
				return errors.Join(os.WriteFile(cert, other.CertPEM, 0o600), os.WriteFile(key, other.KeyPEM, 0o600))
			},
			"garbage": func(_ Store, cert, _ string) error { return os.WriteFile(cert, []byte("x"), 0o600) },
		} {
			s, _ := boundStore(t)
			cert, key := s.files(name)
			if err := harm(s, cert, key); err != nil {
				t.Fatal(err)
			}
			before := contentOf(t, s.Dir)
			_, err := s.Ensure(bindingNames)
			file, ok := errors.AsType[*FileError](err)
			if !ok || !strings.Contains(err.Error(), filepath.Join(s.Dir, name+".")) || file.Advice == "" {
				t.Errorf("%s, %s: error %v", name, label, err)
			}
			if after := contentOf(t, s.Dir); len(after) != len(before) || after[name+".key"] != before[name+".key"] {
				t.Errorf("%s, %s: files were made", name, label)
			}
			if faults := s.Check(); len(faults) == 0 || !strings.Contains(errors.Join(faults...).Error(), name) {
				t.Errorf("%s, %s: Check found %v", name, label, faults)
			}
		}
	}
}

// TestLostDirectory checks that a lost directory is recreated only if the loss is accepted.
// Certificates that an existing CA can reissue are always recreated.
func TestLostDirectory(t *testing.T) {
	s, old := boundStore(t)
	for _, file := range []string{"server.crt", "server.key"} {
		if err := os.Remove(filepath.Join(s.Dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	if set, err := s.Ensure(bindingNames); err != nil || !set.CA.Cert.Equal(old.CA.Cert) {
		t.Fatalf("without the serving pair: %v", err)
	}
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ensure(bindingNames); err == nil || !strings.Contains(err.Error(), "ca.crt is missing") {
		t.Errorf("without the directory: %v", err)
	}
	s.Binding.AcceptLoss = true
	set, err := s.Ensure(bindingNames)
	if err != nil || set.CA.Cert.Equal(old.CA.Cert) {
		t.Fatalf("with an accepted loss: %v", err)
	}
	s.Binding.AcceptLoss = false
	if again, err := s.Ensure(bindingNames); err != nil || !again.CA.Cert.Equal(set.CA.Cert) {
		t.Errorf("after an accepted loss: %v", err)
	}
}

// TestUnboundDirectory checks that files without checksums are adopted, and that no CA is created
// next to certificates of another CA.
func TestUnboundDirectory(t *testing.T) {
	s, old := boundStore(t)
	s.Binding = memoryBinding(map[string]string{})
	if set, err := s.Ensure(bindingNames); err != nil || !set.CA.Cert.Equal(old.CA.Cert) {
		t.Fatalf("an older directory: %v", err)
	}
	for _, file := range []string{"ca.crt", "ca.key"} {
		if err := os.Remove(filepath.Join(s.Dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	s.Binding = memoryBinding(map[string]string{})
	if _, err := s.Ensure(bindingNames); err == nil || !strings.Contains(err.Error(), "ca.crt is missing beside") {
		t.Errorf("without the CA: %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "ca.crt")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a CA was made")
	}
}

func TestFlippedBits(t *testing.T) {
	s, set := boundStore(t)
	pairs := map[string]*Pair{"ca": set.CA, "front-proxy-ca": set.ProxyCA, "server": set.Server, "admin": set.Admin, "apiserver-kubelet-client": set.KubeletClient, "front-proxy-client": set.ProxyClient}
	for file, text := range contentOf(t, s.Dir) {
		name := strings.TrimSuffix(strings.TrimSuffix(file, ".crt"), ".key")
		for i := 0; i < len(text); i += 7 {
			changed := []byte(text)
			changed[i] ^= 1 << (i % 8)
			if err := os.WriteFile(filepath.Join(s.Dir, file), changed, 0o600); err != nil {
				t.Fatal(err)
			}
			if len(s.Check()) > 0 {
				continue
			}
			p, err := s.read(name)
			if err != nil || !p.Cert.Equal(pairs[name].Cert) || !p.key.Equal(pairs[name].key) {
				t.Fatalf("%s: a flipped bit of byte %d is not found", file, i)
			}
		}
		if err := os.WriteFile(filepath.Join(s.Dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInterruptedSave(t *testing.T) {
	_, old := boundStore(t)
	_, next := boundStore(t)
	for _, had := range []*Pair{nil, old.Server} {
		for state := range 16 {
			// Each new file is absent (0), has its temporary name (1), or is in place (2).
			certAt, keyAt := state%4, state/4
			if certAt == 3 || keyAt == 3 || certAt == 2 && keyAt == 0 || certAt == 0 && keyAt == 2 {
				continue // both temporary files are durable before the first rename
			}
			s := Store{Dir: t.TempDir()}
			cert, key := s.files("server")
			put := func(path string, text []byte, at int) {
				if had != nil {
					text := had.CertPEM
					if path == key {
						text = had.KeyPEM
					}
					if err := os.WriteFile(path, text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if at == 1 {
					path += newSuffix
				}
				if at > 0 {
					if err := os.WriteFile(path, text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			put(cert, next.Server.CertPEM, certAt)
			put(key, next.Server.KeyPEM, keyAt)
			got, err := s.load("server")
			want := had
			if certAt > 0 && keyAt > 0 {
				want = next.Server
			}
			if err != nil || !bytes.Equal(got.certPEM(), want.certPEM()) {
				t.Errorf("certificate %d, key %d, over %t: %v", certAt, keyAt, had != nil, err)
			}
			if names := contentOf(t, s.Dir); len(names) != 0 && len(names) != 2 {
				t.Errorf("certificate %d, key %d: %d files are left", certAt, keyAt, len(names))
			}
		}
	}
}

func TestInterruptedRenewal(t *testing.T) {
	for n := range 8 {
		s, _ := boundStore(t)
		sums := map[string]string{}
		s.Binding = memoryBinding(sums)
		if _, err := s.Ensure(bindingNames); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.renewRequestPath(), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		set, left := s.Binding.Set, n
		crash := errors.New("crash")
		s.Binding.Set = func(name, value string) error {
			if left--; left < 0 {
				panic(crash)
			}
			return set(name, value)
		}
		func() {
			defer func() {
				if r := recover(); r != nil && r != crash {
					panic(r)
				}
			}()
			_, _ = s.Ensure(bindingNames)
		}()
		s.Binding.Set = set
		if _, err := s.Ensure(bindingNames); err != nil {
			t.Errorf("after %d writes: %v", n, err)
		}
		if faults := s.Check(); len(faults) > 0 {
			t.Errorf("after %d writes: %v", n, faults)
		}
		if sum := sums["ca.crt"]; strings.Contains(sum, " ") {
			t.Errorf("after %d writes several CAs are accepted: %s", n, sum)
		}
	}
}
