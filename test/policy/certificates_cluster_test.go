package policy

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// Signer names in the platform profile.
const (
	certificateClientSigner = "platform.io/apiserver-client"
	nodeClientSigner        = "platform.io/apiserver-client-node"
	nodeServerSigner        = "platform.io/node-serving"
)

// everyController enables all default controllers, including the root CA publisher, which
// client.Serve disables.
const everyController = "*"

// A certificateCluster is a session with a daemon that runs all default controllers.
type certificateCluster struct{ profileSession }

func openCertificates(t *testing.T, profile string, change func(*daemon.Config)) *certificateCluster {
	t.Helper()
	return &certificateCluster{openProfile(t, profile, func(c *daemon.Config) {
		c.Controllers = everyController
		if change != nil {
			change(c)
		}
	})}
}

func openCertificatesInProfiles(t *testing.T, change func(*daemon.Config), test func(*certificateCluster)) {
	client.InProfiles(t, func(t *testing.T, profile string) { test(openCertificates(t, profile, change)) })
}

const csrs = "/apis/certificates.platform.io/v1/certificatesigningrequests"

// as sends a request as a user with groups, or as the administrator if user is "".
func (c *certificateCluster) as(user string, groups []string, code int, method, path, contentType, body string) client.Object {
	c.T.Helper()
	headers := []string{"Content-Type: " + contentType}
	if user != "" {
		headers = append(headers, "Impersonate-User: "+user)
	}
	for _, group := range groups {
		headers = append(headers, "Impersonate-Group: "+group)
	}
	answer := client.Exchange(c.T, client.Transport(c.T, c.TLS), method, c.URL+c.named(path), c.named(body), headers...)
	if answer.Code != code {
		c.T.Fatalf("%s %s as %q: %s, want %d", method, path, user, answer, code)
	}
	var o client.Object
	if err := json.Unmarshal(answer.Body, &o); err != nil {
		c.T.Fatalf("%s: %v", answer, err)
	}
	return o
}

func (c *certificateCluster) must(code int, method, path, contentType, body string) client.Object {
	c.T.Helper()
	return c.as("", nil, code, method, path, contentType, body)
}

// An order is the content of a CertificateSigningRequest.
type order struct {
	signer string
	usages string // comma-separated
	x509.CertificateRequest
	seconds int // 0: no expirationSeconds
}

func (o order) body(t *testing.T, name string, key *ecdsa.PrivateKey) string {
	t.Helper()
	spec := map[string]any{
		"request": pki.Request(t, o.CertificateRequest, key), "signerName": o.signer, "usages": strings.Split(o.usages, ","),
	}
	if o.seconds > 0 {
		spec["expirationSeconds"] = o.seconds
	}
	text := client.Encode(t, map[string]any{"metadata": map[string]any{"name": name}, "spec": spec})
	return string(text)
}

func node(name string) pkix.Name {
	return pkix.Name{CommonName: "system:node:" + name, Organization: []string{"system:nodes"}}
}

func (c *certificateCluster) ask(name string, o order) *ecdsa.PrivateKey {
	c.T.Helper()
	key := pki.NewKey(c.T)
	c.must(201, "POST", csrs, client.JSON, o.body(c.T, name, key))
	return key
}

// decide sets a condition of a CSR. ago is the age of the condition's lastUpdateTime.
func (c *certificateCluster) decide(name, condition string, ago time.Duration) {
	c.T.Helper()
	sub := "approval"
	if condition == "Failed" {
		sub = "status"
	}
	// The approver may already have set the condition, because it approves node certificates
	// requested by the administrator. In that case, replace the condition.
	conditions := slices.DeleteFunc(c.conditions(name), func(one any) bool { return one.(map[string]any)["type"] == condition })
	conditions = append(conditions, map[string]any{
		"type": condition, "status": "True", "reason": "ByTest", "message": "m", "lastUpdateTime": time.Now().Add(-ago).UTC().Format(time.RFC3339),
	})
	patch := client.Encode(c.T, map[string]any{"status": map[string]any{"conditions": conditions}})
	c.must(200, "PATCH", csrs+"/"+name+"/"+sub, client.MergePatch, string(patch))
}

func (c *certificateCluster) status(name string) map[string]any {
	c.T.Helper()
	status, _ := c.must(200, "GET", csrs+"/"+name, "", "")["status"].(map[string]any)
	return status
}

func (c *certificateCluster) conditions(name string) []any {
	c.T.Helper()
	list, _ := c.status(name)["conditions"].([]any)
	return list
}

// condition waits for a condition of type kind, and returns its reason and message.
func (c *certificateCluster) condition(name, kind string) (text string) {
	c.T.Helper()
	client.Eventually(c.T, func() error {
		for _, each := range c.conditions(name) {
			if one := each.(map[string]any); one["type"] == kind {
				text = fmt.Sprint(one["reason"], ": ", one["message"])
				return nil
			}
		}
		return fmt.Errorf("%s is not %s: %v", name, kind, c.status(name))
	})
	return text
}

func (c *certificateCluster) certificate(name string) (cert *x509.Certificate) {
	c.T.Helper()
	client.Eventually(c.T, func() error {
		text, _ := c.status(name)["certificate"].(string)
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(data) == 0 {
			return fmt.Errorf("%s has no certificate: %v", name, c.status(name))
		}
		block, rest := pem.Decode(data)
		if block == nil || len(bytes.TrimSpace(rest)) > 0 {
			return fmt.Errorf("%q is not one certificate", data)
		}
		cert, err = x509.ParseCertificate(block.Bytes)
		return err
	})
	return cert
}

func (c *certificateCluster) gone(name string) {
	c.T.Helper()
	client.Eventually(c.T, func() error {
		answer, err := c.Get(c.Ctx, c.named(csrs+"/"+name))
		if err == nil && answer.Code != 404 {
			err = errors.New(answer.String())
		}
		return err
	})
}

func (c *certificateCluster) grant(user, subresource string) {
	c.T.Helper()
	const roles = "/apis/rbac.authorization.platform.io/v1/"
	c.must(201, "POST", roles+"clusterrolebindings", client.JSON, fmt.Sprintf(`{"metadata":{"generateName":"test-"},
		"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"system:certificates.platform.io:certificatesigningrequests:%s"},
		"subjects":[{"apiGroup":"rbac.authorization.platform.io","kind":"User","name":%q}]}`, subresource, user))
}

type authority struct {
	certFile, keyFile string
	cert              *x509.Certificate
}

// newAuthority writes a CA that expires after life. If isCA is false, it writes a certificate that
// cannot sign others.
func newAuthority(t *testing.T, dir, name string, life time.Duration, isCA bool) authority {
	t.Helper()
	c := pki.Issue(t, tls.Certificate{}, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: isCA, BasicConstraintsValid: true, NotAfter: time.Now().Add(life), KeyUsage: x509.KeyUsageCertSign,
	})
	a := authority{filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key"), c.Leaf}
	writeCertificates(t, a.keyFile, pki.ECKeyPEM(t, c.PrivateKey))
	writeCertificates(t, a.certFile, pki.PEM(c.Leaf))
	return a
}

func writeCertificates(t *testing.T, path string, text []byte) {
	t.Helper()
	client.WriteFile(t, path, text)
}

// whoami returns the user name and groups that the server derives from a client certificate. It
// returns "" if the server rejects the certificate.
func (c *certificateCluster) whoami(cert *x509.Certificate, key *ecdsa.PrivateKey) string {
	c.T.Helper()
	config := c.TLS.Clone()
	config.Certificates = []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}
	group := strings.Replace(c.named("certificates.platform.io"), "certificates", "authentication", 1)
	url := c.URL + "/apis/" + group + "/v1/selfsubjectreviews"
	answer := client.Exchange(c.T, client.Transport(c.T, config), http.MethodPost, url, `{}`, "Content-Type: "+client.JSON)
	if answer.Code == http.StatusUnauthorized {
		return ""
	}
	var review struct {
		Status struct {
			UserInfo struct {
				Username string
				Groups   []string
			}
		}
	}
	client.Decode(c.T, answer.Body, &review)
	return review.Status.UserInfo.Username + " " + strings.Join(review.Status.UserInfo.Groups, ",")
}
