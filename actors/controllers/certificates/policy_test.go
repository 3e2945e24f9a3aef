package certificates

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/cases"
)

func TestPolicies(t *testing.T) {
	signers := map[string]string{"clientSigner": clientSigner, "nodeClientSigner": nodeClientSigner, "nodeServerSigner": nodeServerSigner, "legacySigner": legacySigner}
	for _, line := range cases.Read(t, "testdata/policies.txt")[0].Lines {
		signer, rest, _ := strings.Cut(line, ": ")
		rest, want, _ := strings.Cut(rest, " =>")
		usages, has, _ := strings.Cut(rest, ";")
		r := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:n", Organization: []string{"system:nodes"}}}
		for name := range strings.FieldsSeq(has) {
			switch name {
			case "dns":
				r.DNSNames = []string{"n"}
			case "ip":
				r.IPAddresses = []net.IP{{10, 0, 0, 1}}
			case "email":
				r.EmailAddresses = []string{"n@example.com"}
			case "uri":
				r.URIs = []*url.URL{{Scheme: "https"}}
			case "person":
				r.Subject.CommonName = "jane"
			case "masters":
				r.Subject.Organization = []string{"system:nodes", "system:masters"}
			default:
				t.Fatal(line)
			}
		}
		got := ""
		if err := policies[signers[signer]](r, strings.Split(usages, ",")); err != nil {
			got = " " + err.Error()
		}
		if got != want {
			t.Errorf("%s: got%s", line, got)
		}
	}
}

func TestUsages(t *testing.T) {
	key, ext, err := parseUsages([]string{"s/mime", "email protection", "signing", "digital signature", "crl sign", "any", "server auth"})
	want := []x509.ExtKeyUsage{x509.ExtKeyUsageAny, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageEmailProtection}
	if err != nil || key != x509.KeyUsageDigitalSignature|x509.KeyUsageCRLSign || !slices.Equal(ext, want) {
		t.Errorf("%b %v %v", key, ext, err)
	}
	if len(keyUsages)+len(extKeyUsages) != 23 {
		t.Errorf("%d usages are known, and 23 can be asked for", len(keyUsages)+len(extKeyUsages))
	}
	if _, _, err := parseUsages([]string{"client auth", "all"}); err == nil {
		t.Error("a usage that is none")
	}
}
