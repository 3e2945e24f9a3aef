package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/policy/certs"
)

// TLS is what to serve with, and how. The names and the values of the settings are those of the API server
// that clients know.
type TLS struct {
	CertFile       string   `json:"certFile"`
	PrivateKeyFile string   `json:"privateKeyFile"`
	SNICertKeys    []string `json:"sniCertKeys"` // certificate file,key file[:names]
	CertDir        string   `json:"certDir"`     // "" is pki in the data directory
	MinVersion     string   `json:"minVersion"`  // VersionTLS12 or VersionTLS13
	CipherSuites   []string `json:"cipherSuites"`
	ReloadPeriod   Duration `json:"reloadPeriod"` // between two looks at the files
	// WriteFiles writes the certificate that the daemon makes, with its CA, to CertFile, and its key to PrivateKeyFile.
	WriteFiles bool `json:"-"`
	// StrictTransportSecurity are the directives of that header; none means no header.
	StrictTransportSecurity []string `json:"strictTransportSecurity"`
}

// defaultTLS names no files: the daemon makes its certificates. Empty lists of suites and directives mean Go's choice and
// no header.
func defaultTLS() TLS {
	return TLS{
		SNICertKeys: []string{}, MinVersion: "VersionTLS12", CipherSuites: []string{},
		ReloadPeriod: Duration(10 * time.Second), StrictTransportSecurity: []string{},
	}
}

// flags binds the section.
func (t *TLS) flags(f *pflag.FlagSet) {
	f.StringVar(&t.CertFile, "tls-cert-file", t.CertFile, "PEM file of the certificate to serve with, followed by its intermediates. Made by the daemon if not given.")
	f.StringVar(&t.PrivateKeyFile, "tls-private-key-file", t.PrivateKeyFile, "PEM file of that certificate's key.")
	f.StringArrayVar(&t.SNICertKeys, "tls-sni-cert-key", t.SNICertKeys, "PEM files of a certificate and its key for clients that ask for certain names: cert,key or cert,key:name,*.domain; without names those that the certificate carries. May be repeated.")
	f.StringVar(&t.CertDir, "cert-dir", t.CertDir, "Directory of the certificates that the daemon makes (default pki in the data directory).")
	f.StringVar(&t.MinVersion, "tls-min-version", t.MinVersion, "Least version of TLS: VersionTLS12 or VersionTLS13.")
	f.StringSliceVar(&t.CipherSuites, "tls-cipher-suites", t.CipherSuites, "Cipher suites of TLS 1.2, with commas (default those that Go prefers). TLS 1.3 has its own.")
	f.StringSliceVar(&t.StrictTransportSecurity, "strict-transport-security-directives", t.StrictTransportSecurity, "Directives of the header Strict-Transport-Security, with commas: max-age=SECONDS, includeSubDomains, preload. None means no header.")
}

// The period is bounded so that an expired or revoked certificate goes within a minute.
func (t TLS) validate(f *faults) {
	f.check((t.CertFile == "") == (t.PrivateKeyFile == ""), "tls.certFile", "goes together with tls.privateKeyFile")
	for _, text := range t.SNICertKeys {
		if _, err := certs.ParseNamedCertKey(text); err != nil {
			f.check(false, "tls.sniCertKeys", err.Error())
		}
	}
	if _, err := certs.ParseTLSVersion(t.MinVersion); err != nil {
		f.check(false, "tls.minVersion", err.Error())
	}
	if _, _, err := certs.ParseCipherSuites(t.CipherSuites); err != nil {
		f.check(false, "tls.cipherSuites", err.Error())
	}
	f.check(t.ReloadPeriod > 0 && t.ReloadPeriod <= Duration(time.Minute), "tls.reloadPeriod", "must be above 0 and at most 1m")
	if err := checkDirectives(t.StrictTransportSecurity); err != nil {
		f.check(false, "tls.strictTransportSecurity", err.Error())
	}
}

// checkDirectives checks those of Strict-Transport-Security (RFC 6797, section 6.1).
func checkDirectives(directives []string) error {
	age := false
	for _, d := range directives {
		name, value, _ := strings.Cut(d, "=")
		switch {
		// 63 bits are plenty; the header sets no bound of its own.
		case name == "max-age":
			if _, err := strconv.ParseUint(value, 10, 63); err != nil || age {
				return fmt.Errorf("%q is not max-age=SECONDS, once", d)
			}
			age = true
		case d != "includeSubDomains" && d != "preload":
			return fmt.Errorf("%q is none of max-age=SECONDS, includeSubDomains, preload", d)
		}
	}
	// The only directive that must be there: browsers ignore the header without it.
	if len(directives) > 0 && !age {
		return errors.New("max-age=SECONDS is missing")
	}
	return nil
}

// strictTransport is the value of the header Strict-Transport-Security; "" if there is none.
func (t TLS) strictTransport() string { return strings.Join(t.StrictTransportSecurity, "; ") }

// warn tells the log what had better be otherwise. Old clients may need such suites, so they are not
// refused.
func (t TLS) warn(log *slog.Logger) {
	if _, insecure, _ := certs.ParseCipherSuites(t.CipherSuites); len(insecure) > 0 {
		log.Warn("insecure cipher suites are enabled", "suites", strings.Join(insecure, ","))
	}
}

// parseOrigins compiles the expressions of the origins that browsers may come from. Like kube-apiserver, it demands
// what binds an expression to both ends of the host, else example.com.evil.org would match as well.
func parseOrigins(texts []string) ([]*regexp.Regexp, error) {
	var origins []*regexp.Regexp
	for _, text := range texts {
		origin, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		begins := strings.Contains(text, "^") || strings.Contains(text, "//")
		ends := strings.Contains(text, "$") || strings.Contains(text, ":") // also that of ://, as in kube-apiserver
		if !begins || !ends {
			return nil, fmt.Errorf("%q is not bound to the beginning (^ or //) and the end ($ or :) of the host", text)
		}
		origins = append(origins, origin)
	}
	return origins, nil
}
