package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/tree"
)

func issued(t *testing.T, end time.Time) string {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.Add(-time.Hour), NotAfter: end}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestEnd(t *testing.T) {
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(kind string, after time.Duration) tree.Tree {
		return tree.Tree{"type": kind, "lastUpdateTime": created.Add(after).Format(time.RFC3339)}
	}
	for _, c := range []struct {
		name        string
		conditions  []tree.Tree
		certificate time.Duration // expiry; 0: no certificate
		want        time.Duration
	}{
		{"pending", nil, 0, 24 * time.Hour},
		{"with an unknown condition", []tree.Tree{at("Mine", 5*time.Hour)}, 0, 24 * time.Hour},
		{"approved", []tree.Tree{at(approved, 2*time.Hour)}, 0, 3 * time.Hour},
		{"denied", []tree.Tree{at(denied, 30*time.Hour)}, 0, 31 * time.Hour},
		{"failed", []tree.Tree{at(approved, time.Hour), at(failed, 2*time.Hour)}, 0, 3 * time.Hour},
		{"issued", []tree.Tree{at(approved, time.Hour)}, 99 * time.Hour, 2 * time.Hour},
		{"issued for minutes", []tree.Tree{at(approved, time.Hour)}, 70 * time.Minute, 70 * time.Minute},
		{"without times", []tree.Tree{{"type": approved}}, 0, 24 * time.Hour},
	} {
		r := &signingRequest{created: created, conditions: c.conditions, status: tree.Tree{}}
		if c.certificate > 0 {
			r.status["certificate"] = issued(t, created.Add(c.certificate))
		}
		if got := end(r).Sub(created); got != c.want {
			t.Errorf("%s: over after %v, want %v", c.name, got, c.want)
		}
	}
}
