package daemon

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/policy/certs"
)

// CertificateSigning is which CAs sign what certificate signing requests ask for. The two files are for all
// signers that every cluster has. Files of one signer exclude them: then signers without files of their own do not sign. Without any
// files the daemon's own CA signs, for all but the legacy signer.
type CertificateSigning struct {
	CertFile        string     `json:"certFile"`
	KeyFile         string     `json:"keyFile"`
	Duration        Duration   `json:"duration"` // the longest of a certificate
	NodeServing     CAKeyFiles `json:"nodeServing"`
	NodeClient      CAKeyFiles `json:"nodeClient"`
	APIServerClient CAKeyFiles `json:"apiserverClient"`
	LegacyUnknown   CAKeyFiles `json:"legacyUnknown"`
}

// CAKeyFiles are the PEM files of a CA and its key.
type CAKeyFiles struct {
	CertFile string `json:"certFile"`
	KeyFile  string `json:"keyFile"`
}

// given tells whether either file is named. One alone counts, so that validate sees it and reports the other.
func (c CAKeyFiles) given() bool { return c.CertFile != "" || c.KeyFile != "" }

// defaultCertificateSigning signs with the daemon's own CA, for a year at most.
func defaultCertificateSigning() CertificateSigning {
	return CertificateSigning{Duration: Duration(365 * 24 * time.Hour)}
}

// A signerFiles is a signer with its own files. Its flags begin with --cluster-signing- and its name there.
type signerFiles struct {
	flag, key, signer string // the signer in platform form
	files             *CAKeyFiles
}

// signers pairs the files of each signer with its name, its flags and its key in the file, so that flags, checks and
// loading go over one list. The pointers are into s, which is why the receiver is one.
func (s *CertificateSigning) signers() []signerFiles {
	return []signerFiles{
		{"kubelet-serving", "nodeServing", "platform.io/node-serving", &s.NodeServing},
		{"kubelet-client", "nodeClient", "platform.io/apiserver-client-node", &s.NodeClient},
		{"kube-apiserver-client", "apiserverClient", "platform.io/apiserver-client", &s.APIServerClient},
		{"legacy-unknown", "legacyUnknown", "platform.io/legacy-unknown", &s.LegacyUnknown},
	}
}

// flags binds the files of the common CA, and those of each signer that may have one of its own.
func (s *CertificateSigning) flags(f *pflag.FlagSet) {
	f.StringVar(&s.CertFile, "cluster-signing-cert-file", s.CertFile, "PEM file of the CA that signs certificate signing requests (default the daemon's own CA).")
	f.StringVar(&s.KeyFile, "cluster-signing-key-file", s.KeyFile, "PEM file of that CA's key.")
	f.Var(&s.Duration, "cluster-signing-duration", "Longest time that a certificate is signed for; a request may ask for less.")
	for _, one := range s.signers() {
		f.StringVar(&one.files.CertFile, "cluster-signing-"+one.flag+"-cert-file", one.files.CertFile, "PEM file of the CA of the signer "+one.signer+", in place of --cluster-signing-cert-file.")
		f.StringVar(&one.files.KeyFile, "cluster-signing-"+one.flag+"-key-file", one.files.KeyFile, "PEM file of that CA's key.")
	}
}

// validate refuses a CA of one signer beside a common one: which of the two signs would be a guess.
func (s CertificateSigning) validate(f *faults) {
	// The same words for each pair, of which the key of the setting tells which it is.
	const pair = "goes together with its key file"
	f.check((s.CertFile == "") == (s.KeyFile == ""), "certificateSigning.certFile", pair)
	f.positive("certificateSigning.duration", s.Duration)
	for _, one := range s.signers() {
		key := "certificateSigning." + one.key
		f.check((one.files.CertFile == "") == (one.files.KeyFile == ""), key+".certFile", pair)
		// A common CA is for all signers, so one beside it contradicts it.
		f.check(!one.files.given() || s.CertFile == "", key, "cannot be given together with certificateSigning.certFile (--cluster-signing-cert-file)")
	}
}

// loadSigners reads the CAs of the signers. Those in files are read again while the daemon runs.
func (id *identity) loadSigners() (err error) {
	s, cas := id.config.CertificateSigning, &id.signers
	if !s.anyFiles() {
		// The legacy signer asks nothing of a request, so it never stands on the CA whose certificates the daemon
		// believes unless an operator says so.
		own := id.ownCerts.Authority()
		cas.Client, cas.NodeClient, cas.NodeServer = own, own, own
		return nil
	}
	if s.CertFile != "" {
		common, err := id.signingAuthority("cluster-signing", CAKeyFiles{s.CertFile, s.KeyFile})
		*cas = certificates.Authorities{Client: common, NodeClient: common, NodeServer: common, Legacy: common}
		return err
	}
	authorities := []**certs.Authority{&cas.NodeServer, &cas.NodeClient, &cas.Client, &cas.Legacy} // as signers are
	for i, one := range s.signers() {
		if *authorities[i], err = id.signingAuthority("cluster-signing-"+one.flag, *one.files); err != nil {
			return err
		}
	}
	return nil
}

// anyFiles tells whether any CA for signing is given by files.
func (s CertificateSigning) anyFiles() bool {
	return s.CertFile != "" || slices.ContainsFunc(s.signers(), func(one signerFiles) bool { return one.files.given() })
}

// signingAuthority returns the CA in two files; nil if none are given.
func (id *identity) signingAuthority(name string, files CAKeyFiles) (*certs.Authority, error) {
	if !files.given() {
		return nil, nil
	}
	a, refresh, err := certs.LoadAuthority(files.CertFile, files.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("--%s-cert-file and --%[1]s-key-file: %w", name, err)
	}
	id.reloader.Add(name, refresh)
	return a, nil
}
