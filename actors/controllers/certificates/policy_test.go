package certificates

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestPolicies checks which requests the signers accept, and the errors.
func TestPolicies(t *testing.T) {
	node := pkix.Name{CommonName: "system:node:n", Organization: []string{"system:nodes"}}
	with := func(change func(r *x509.CertificateRequest)) *x509.CertificateRequest {
		r := &x509.CertificateRequest{Subject: node}
		if change != nil {
			change(r)
		}
		return r
	}
	dns := func(r *x509.CertificateRequest) { r.DNSNames = []string{"n"} }
	ip := func(r *x509.CertificateRequest) { r.IPAddresses = []net.IP{{10, 0, 0, 1}} }
	email := func(r *x509.CertificateRequest) { r.EmailAddresses = []string{"n@example.com"} }
	uri := func(r *x509.CertificateRequest) { r.URIs = []*url.URL{{Scheme: "https"}} }
	person := func(r *x509.CertificateRequest) { r.Subject.CommonName = "jane" }
	masters := func(r *x509.CertificateRequest) {
		r.Subject.Organization = []string{"system:nodes", "system:masters"}
	}
	for _, c := range []struct {
		signer, usages string
		changes        []func(*x509.CertificateRequest)
		want           string
	}{
		{clientSigner, "client auth", nil, ""},
		{clientSigner, "client auth,digital signature,key encipherment", []func(*x509.CertificateRequest){dns, ip, email, uri, person}, ""},
		{clientSigner, "digital signature", nil, "missing required usage for client certificate: client auth"},
		{clientSigner, "client auth,server auth", nil, "invalid usage for client certificate: server auth"},
		{clientSigner, "client auth,cert sign", nil, "invalid usage for client certificate: cert sign"},
		{nodeClientSigner, "client auth,digital signature", nil, ""},
		{nodeClientSigner, "digital signature,client auth,key encipherment", nil, ""},
		{nodeClientSigner, "client auth", nil, "usages did not match [client auth digital signature key encipherment]"},
		{nodeClientSigner, "client auth,key encipherment", nil, "usages did not match [client auth digital signature key encipherment]"},
		{nodeClientSigner, "client auth,digital signature,server auth", nil, "usages did not match [client auth digital signature key encipherment]"},
		{nodeClientSigner, "client auth,digital signature", []func(*x509.CertificateRequest){dns}, "DNS subjectAltNames are not allowed"},
		{nodeClientSigner, "client auth,digital signature", []func(*x509.CertificateRequest){ip}, "IP subjectAltNames are not allowed"},
		{nodeClientSigner, "client auth,digital signature", []func(*x509.CertificateRequest){email}, "Email subjectAltNames are not allowed"},
		{nodeClientSigner, "client auth,digital signature", []func(*x509.CertificateRequest){uri}, "URI subjectAltNames are not allowed"},
		{nodeClientSigner, "client auth,digital signature", []func(*x509.CertificateRequest){person}, "subject common name does not begin with system:node:"},
		{nodeClientSigner, "client auth,digital signature", []func(*x509.CertificateRequest){masters}, "subject organization is not system:nodes"},
		{nodeServerSigner, "server auth,digital signature", []func(*x509.CertificateRequest){dns}, ""},
		{nodeServerSigner, "server auth,digital signature,key encipherment", []func(*x509.CertificateRequest){dns, ip}, ""},
		{nodeServerSigner, "server auth,digital signature", nil, "DNS or IP subjectAltName is required"},
		{nodeServerSigner, "server auth,digital signature", []func(*x509.CertificateRequest){ip, email}, "Email subjectAltNames are not allowed"},
		{nodeServerSigner, "server auth,digital signature", []func(*x509.CertificateRequest){ip, uri}, "URI subjectAltNames are not allowed"},
		{nodeServerSigner, "client auth,digital signature", []func(*x509.CertificateRequest){ip}, "usages did not match [digital signature key encipherment server auth]"},
		{nodeServerSigner, "server auth,digital signature", []func(*x509.CertificateRequest){ip, person}, "subject common name does not begin with system:node:"},
		{nodeServerSigner, "server auth,digital signature", []func(*x509.CertificateRequest){ip, masters}, "subject organization is not system:nodes"},
		{legacySigner, "cert sign,any", []func(*x509.CertificateRequest){dns, ip, email, uri, person, masters}, ""},
	} {
		r := with(func(r *x509.CertificateRequest) {
			for _, change := range c.changes {
				change(r)
			}
		})
		got := ""
		if err := policies[c.signer](r, strings.Split(c.usages, ",")); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, %s, %+v: %q, want %q", c.signer, c.usages, r.Subject, got, c.want)
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
