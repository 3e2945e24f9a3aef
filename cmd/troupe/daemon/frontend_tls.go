package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/policy/certs"
)

// TLS configures serving over TLS. Setting names and values are those of kube-apiserver.
type TLS struct {
	CertFile       string   `flag:"tls-cert-file"`
	PrivateKeyFile string   `flag:"tls-private-key-file"`
	SNICertKeys    []string `flag:"tls-sni-cert-key"` // certificate file,key file[:names]
	CertDir        string   `flag:"cert-dir"`         // "" means pki in the data directory
	MinVersion     string   `flag:"tls-min-version"`  // VersionTLS12 or VersionTLS13
	CipherSuites   []string `flag:"tls-cipher-suites"`
	Curves         []string `flag:"tls-curve-preferences"`
	ReloadPeriod   Duration `flag:"tls-reload-period"` // between two checks of the files
	// WriteFiles writes the generated serving certificate and CA to CertFile, and the key to
	// PrivateKeyFile.
	WriteFiles bool
	// StrictTransportSecurity holds the directives of the Strict-Transport-Security header, which
	// is omitted if there are none.
	StrictTransportSecurity []string `flag:"strict-transport-security-directives"`
}

// validate checks the TLS settings. The reload period is at most one minute, so that the server
// soon stops using an expired or revoked certificate.
func (t TLS) validate(f *faults) {
	for _, text := range t.SNICertKeys {
		_, err := certs.ParseNamedCertKey(text)
		f.checkError("tls-sni-cert-key", err)
	}
	_, err := certs.ParseTLSVersion(t.MinVersion)
	f.checkError("tls-min-version", err)
	_, _, err = certs.ParseCipherSuites(t.CipherSuites)
	f.checkError("tls-cipher-suites", err)
	_, err = certs.ParseCurves(t.Curves)
	f.checkError("tls-curve-preferences", err)
	f.check(t.ReloadPeriod > 0 && t.ReloadPeriod <= Duration(time.Minute), "tls-reload-period", "must be above 0 and at most 1m")
	f.checkError("strict-transport-security-directives", checkDirectives(t.StrictTransportSecurity))
}

// checkDirectives checks the directives of Strict-Transport-Security (RFC 6797, section 6.1).
func checkDirectives(directives []string) error {
	age := false
	for _, d := range directives {
		name, value, _ := strings.Cut(d, "=")
		switch {
		case name == "max-age":
			if _, err := strconv.ParseUint(value, 10, 63); err != nil || age {
				return fmt.Errorf("%q is not max-age=SECONDS, once", d)
			}
			age = true
		case d != "includeSubDomains" && d != "preload":
			return fmt.Errorf("%q: must be one of max-age=SECONDS, includeSubDomains, preload", d)
		}
	}
	// Browsers ignore a header without max-age.
	if len(directives) > 0 && !age {
		return errors.New("max-age=SECONDS is missing")
	}
	return nil
}

func (t TLS) strictTransport() string { return strings.Join(t.StrictTransportSecurity, "; ") }

// warn logs insecure cipher suites, which are allowed because old clients may need them.
func (t TLS) warn(log *slog.Logger) {
	if _, insecure, _ := certs.ParseCipherSuites(t.CipherSuites); len(insecure) > 0 {
		log.Warn("insecure cipher suites are enabled", "suites", strings.Join(insecure, ","))
	}
}

// parseOrigins compiles CORS origin patterns. Like kube-apiserver, it rejects a pattern that does
// not anchor both ends of the host, because it would also match example.com.evil.org.
func parseOrigins(texts []string) ([]*regexp.Regexp, error) {
	var origins []*regexp.Regexp
	for _, text := range texts {
		origin, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		begins := strings.Contains(text, "^") || strings.Contains(text, "//")
		ends := strings.Contains(text, "$") || strings.Contains(text, ":") // includes that of ://, as in kube-apiserver
		if !begins || !ends {
			return nil, fmt.Errorf("%q is not bound to the beginning (^ or //) and the end ($ or :) of the host", text)
		}
		origins = append(origins, origin)
	}
	return origins, nil
}
