package encryption

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"sigs.k8s.io/yaml"
)

func secretOf(fill byte, n int) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, n))
}

func configOf(providers string) string {
	return "resources:\n- resources: [secrets]\n  providers: [" + providers + "]\n"
}

func keyOf(algorithm, name string, fill byte) string {
	return fmt.Sprintf("{%s: {keys: [{name: %q, secret: %s}]}}", algorithm, name, secretOf(fill, 32))
}

func mustParse(t testing.TB, text string) *Configuration {
	t.Helper()
	return must.Get(Parse(must.Get(yaml.YAMLToJSON([]byte(text)))(t), text))(t)
}

func transformerOf(t testing.TB, text string) *Transformer {
	t.Helper()
	return must.Get(New(mustParse(t, text), Options{}))(t)
}

var place = persist.Place{Key: "/secrets/default/a", Revision: 7}

// TestTamperedValues checks for every provider that moving, truncating or extending a value, or
// flipping any bit, makes it undecryptable.
func TestTamperedValues(t *testing.T) {
	t.Parallel()
	value := []byte(`{"data":"marker"}`)
	for _, algorithm := range []string{"aesgcm", "aescbc", "secretbox"} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			x := transformerOf(t, configOf(keyOf(algorithm, "k:1", 1)))
			stored := x.Encode([]byte("before"), place, value)[len("before"):]
			if got, err := x.Decode(place, stored); err != nil || !bytes.Equal(got, value) {
				t.Fatalf("%q, %v", got, err)
			}
			if again := x.Encode(nil, place, value); bytes.Equal(again, stored) || bytes.Contains(stored, []byte("marker")) || Provider(stored) != algorithm+":v1:k%3A1" {
				t.Errorf("stored as %q", stored)
			}
			for name, at := range map[string]persist.Place{
				"another key": {Key: "/secrets/default/b", Revision: 7}, "another revision": {Key: place.Key, Revision: 8},
				"metadata": {Key: place.Key, Revision: 7, Metadata: true}, "a longer key": {Key: place.Key + "a", Revision: 7},
			} {
				if _, err := x.Decode(at, stored); err == nil {
					t.Errorf("moved to %s it decrypts", name)
				}
			}
			// In etcd, an older value of the same key decrypts, as docs/encryption.md states.
			for key, decrypts := range map[string]bool{place.Key: true, place.Key + "b": false} {
				at := persist.Place{Key: key, Revision: 9, Unversioned: true}
				if _, err := x.Decode(at, x.Encode(nil, persist.Place{Key: place.Key}, value)); (err == nil) != decrypts {
					t.Errorf("in etcd, as an older value of %s: %v", key, err)
				}
			}
			for n := range stored {
				if _, err := x.Decode(place, stored[:n]); err == nil {
					t.Errorf("cut to %d bytes it decrypts", n)
				}
				for bit := range 8 {
					changed := bytes.Clone(stored)
					changed[n] ^= 1 << bit
					if _, err := x.Decode(place, changed); err == nil {
						t.Errorf("with bit %d of byte %d turned it decrypts", bit, n)
					}
				}
			}
			if _, err := x.Decode(place, append(bytes.Clone(stored), 0)); err == nil {
				t.Error("with a byte more it decrypts")
			}
			if _, err := transformerOf(t, configOf(keyOf(algorithm, "k:1", 2))).Decode(place, stored); err == nil {
				t.Error("another secret of the same name decrypts it")
			}
		})
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"aesgcm", "aescbc", "secretbox"} {
		x := transformerOf(t, configOf(keyOf(algorithm, "k", 1)))
		for n := 1; n < 70; n++ {
			value := bytes.Repeat([]byte("x"), n)
			if got, err := x.Decode(place, x.Encode(nil, place, value)); err != nil || !bytes.Equal(got, value) {
				t.Errorf("%s, %d bytes: %q, %v", algorithm, n, got, err)
			}
		}
	}
}

// TestRotation checks that the first key encrypts and that all keys decrypt. Unencrypted values and
// values encrypted with other keys are stale. Unencrypted values are readable only with the
// identity provider.
func TestRotation(t *testing.T) {
	t.Parallel()
	first, second := keyOf("aesgcm", "one", 1), keyOf("secretbox", "two", 2)
	value, before := []byte(`{}`), transformerOf(t, configOf(first))
	stored := before.Encode(nil, place, value)
	if before.Stale(place.Key, 7) {
		t.Error("stale under its own key")
	}
	x := transformerOf(t, configOf(second+","+first+",{identity: {}}"))
	if got, err := x.Decode(place, stored); err != nil || !bytes.Equal(got, value) {
		t.Errorf("the second provider: %q, %v", got, err)
	}
	if !x.Stale(place.Key, 7) || x.Stale(place.Key, 8) || x.Stale("/configmaps/default/a", 7) || x.Rewrites() == 0 {
		t.Error("wrong staleness")
	}
	clear := persist.Place{Key: place.Key, Revision: 9}
	if got, err := x.Decode(clear, value); err != nil || !bytes.Equal(got, value) || !x.Stale(place.Key, 9) {
		t.Errorf("in clear: %q, %v", got, err)
	}
	if got := x.Encode(nil, clear, value); Provider(got) != "secretbox:v1:two" {
		t.Errorf("written with %s", Provider(got))
	}
	for name, c := range map[string]struct {
		x      *Transformer
		stored []byte
		fault  string
	}{
		"in clear, without identity":   {before, value, "it is not encrypted"},
		"with a key that is not there": {transformerOf(t, configOf(second)), stored, "it is encrypted with aesgcm:v1:one, which the encryption configuration does not list"},
		"without a configuration":      {mustNew(t), stored, "it is encrypted with aesgcm:v1:one"},
		"of something unknown":         {x, []byte("enc:rot13"), "something unknown"},
	} {
		if _, err := c.x.Decode(place, c.stored); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v", name, err)
		}
	}
	replaced := persist.Place{Key: place.Key, Revision: 7, Replaced: true}
	y := transformerOf(t, configOf(second+","+first))
	if _, err := y.Decode(replaced, stored); err != nil || y.Stale(place.Key, 7) {
		t.Errorf("what was replaced is stale: %v", err)
	}
}

func mustNew(t *testing.T) *Transformer {
	t.Helper()
	return must.Get(New(nil, Options{}))(t)
}

// TestReplace checks that a new configuration makes the values of a rule stale only if the first
// key of the rule differs.
func TestReplace(t *testing.T) {
	t.Parallel()
	text := configOf(keyOf("aesgcm", "one", 1)) + "- resources: ['*.apps']\n  providers: [" + keyOf("aescbc", "a", 3) + "]\n"
	x := transformerOf(t, text)
	other := persist.Place{Key: "apps/deployments/default/d", Revision: 8}
	x.Encode(nil, place, []byte(`{}`))
	if got := x.Encode(nil, other, []byte(`{}`)); Provider(got) != "aescbc:v1:a" {
		t.Errorf("apps are written with %s", Provider(got))
	}
	next := mustParse(t, strings.Replace(text, "providers: [{aesgcm", "providers: ["+keyOf("aesgcm", "two", 2)+",{aesgcm", 1))
	if err := x.Replace(t.Context(), next); err != nil || x.Hash() != next.Hash() {
		t.Fatal(err)
	}
	if !x.Stale(place.Key, 7) || x.Stale(other.Key, 8) || x.Stale(place.Key, 9) {
		t.Error("wrong staleness")
	}
}

func BenchmarkValues(b *testing.B) {
	value := bytes.Repeat([]byte("v"), 1024)
	for _, algorithm := range []string{"aesgcm", "aescbc", "secretbox"} {
		x := transformerOf(b, configOf(keyOf(algorithm, "k", 1)))
		stored := x.Encode(nil, place, value)
		b.Run(algorithm+"/encode", func(b *testing.B) {
			var buf []byte
			for b.Loop() {
				buf = x.Encode(buf[:0], place, value)
			}
		})
		b.Run(algorithm+"/decode", func(b *testing.B) {
			for b.Loop() {
				must.Get(x.Decode(place, stored))(b)
			}
		})
	}
}
