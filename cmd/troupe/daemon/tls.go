package daemon

import "github.com/spf13/pflag"

// TLS are the certificates to serve with.
type TLS struct {
	CertFile       string `json:"certFile"`
	PrivateKeyFile string `json:"privateKeyFile"`
	CertDir        string `json:"certDir"` // "" is pki in the data directory
}

func (t *TLS) flags(f *pflag.FlagSet) {
	f.StringVar(&t.CertFile, "tls-cert-file", t.CertFile, "PEM file of the certificate to serve with, followed by its intermediates. Made by the daemon if not given.")
	f.StringVar(&t.PrivateKeyFile, "tls-private-key-file", t.PrivateKeyFile, "PEM file of that certificate's key.")
	f.StringVar(&t.CertDir, "cert-dir", t.CertDir, "Directory of the certificates that the daemon makes (default pki in the data directory).")
}

func (t TLS) validate(f *faults) {
	f.check((t.CertFile == "") == (t.PrivateKeyFile == ""), "tls.certFile", "goes together with tls.privateKeyFile")
}
