package policy

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestMutatedTokens checks that no change of a valid service account token or bootstrap token is
// accepted: every byte is replaced, removed and repeated, and every prefix and suffix is cut off.
func TestMutatedTokens(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(client.Seed(t, 41), 3))
	v := start(t, func(c *daemon.Config) { c.BootstrapTokens.Enabled = true })
	v.must(201, "POST", securityAccounts, typeJSON, `{"metadata":{"name":"robot"}}`)
	v.must(201, "POST", systemSecrets, typeJSON, `{"metadata":{"name":"bootstrap-token-abcdef"},"type":"bootstrap.platform.io/token","stringData":{
		"token-id":"abcdef","token-secret":"0123456789abcdef","usage-bootstrap-authentication":"true"}}`)
	tried := 0
	for name, good := range map[string]string{"account": v.accountToken("robot", `{}`), "bootstrap": "abcdef.0123456789abcdef"} {
		client.Eventually(t, func() error {
			if code, text := v.bearer(good, "POST", selfPath, typeJSON, "{}"); code != 201 {
				return &client.Answer{Code: code, Body: []byte(text)}
			}
			return nil
		})
		for mutant := range mutants(r, good) {
			tried++
			if code, text := v.bearer(mutant, "POST", selfPath, typeJSON, "{}"); code != 401 {
				t.Errorf("%s token %s for %s: got %d %s", name, mutant, good, code, text)
			}
		}
	}
	client.Figures(t, "%d tokens", tried)
}

// mutants returns the mutants of a token. All consist of the characters of tokens.
func mutants(r *rand.Rand, good string) map[string]bool {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	all := map[string]bool{}
	for i := range good {
		before, after, char := good[:i], good[i+1:], good[i:i+1]
		all[before+after], all[before+char+char+after], all[before+strings.ToUpper(char)+after] = true, true, true
		all[before+string(alphabet[r.IntN(len(alphabet))])+after] = true
		// The next character of the alphabet differs in the last bit, which may be padding.
		all[before+string(alphabet[(strings.Index(alphabet, char)^1)%len(alphabet)])+after] = true
		if i > 0 {
			all[before], all[good[i:]] = true, true
		}
	}
	parts := strings.Split(good, ".")
	for i := range parts {
		for j := range parts {
			swapped := append([]string{}, parts...)
			swapped[i], swapped[j] = parts[j], parts[i]
			all[strings.Join(swapped, ".")] = true
			swapped[i], swapped[j] = parts[j], parts[j]
			all[strings.Join(swapped, ".")] = true
		}
		if text, err := base64.RawURLEncoding.DecodeString(parts[i]); err == nil {
			padded := append([]string{}, parts...)
			for _, encoding := range []*base64.Encoding{base64.URLEncoding, base64.StdEncoding} {
				padded[i] = encoding.EncodeToString(text)
				all[strings.Join(padded, ".")] = true
			}
		}
	}
	delete(all, good)
	delete(all, "")
	return all
}

// TestMutatedCertificates checks that no change of a valid client certificate is accepted. One
// random bit of each byte is flipped, and the certificate is cut off after each byte. The TLS
// handshake fails, or the response is 401.
func TestMutatedCertificates(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(client.Seed(t, 41), 4))
	v := start(t)
	key := v.admin().Certificates[0].PrivateKey
	block, _ := pem.Decode(v.read("admin.crt"))
	if block == nil {
		t.Fatal("no certificate")
	}
	tried, answered := 0, 0
	// send reports whether the server accepts a certificate.
	send := func(certificate []byte) bool {
		config := v.anonymous()
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}, nil // unchecked
		}
		transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
		request, err := http.NewRequestWithContext(t.Context(), "POST", v.d.URL()+selfPath, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", typeJSON)
		tried++
		response, err := transport.RoundTrip(request)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		answered++
		return response.StatusCode != 401
	}
	if !send(block.Bytes) {
		t.Fatal("the certificate is not accepted")
	}
	for i := range block.Bytes {
		mutant := append([]byte{}, block.Bytes...)
		bit := byte(1) << r.IntN(8)
		if mutant[i] ^= bit; send(mutant) {
			t.Errorf("accepted with bit %08b of byte %d flipped", bit, i)
		}
		if send(block.Bytes[:i]) {
			t.Errorf("accepted if cut off after %d bytes", i)
		}
	}
	if send(append(append([]byte{}, block.Bytes...), 0)) {
		t.Error("accepted with another byte")
	}
	client.Figures(t, "%d certificates (%d without an error of TLS)", tried, answered)
}
