package daemon

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/policy/certs"
)

// CertificateSigning is which CAs sign what certificate signing requests ask for. The two files are for all
// signers that every cluster has. Files of one signer exclude them: then signers without files of their own do not sign. Without any
// files the daemon's own CA signs, for all but the legacy signer.
type CertificateSigning struct {
	CertFile        string     `flag:"cluster-signing-cert-file"`
	KeyFile         string     `flag:"cluster-signing-key-file"`
	Duration        Duration   `flag:"cluster-signing-duration"` // the longest of a certificate
	NodeServing     CAKeyFiles `flag:"cluster-signing-kubelet-serving-"`
	NodeClient      CAKeyFiles `flag:"cluster-signing-kubelet-client-"`
	APIServerClient CAKeyFiles `flag:"cluster-signing-kube-apiserver-client-"`
	LegacyUnknown   CAKeyFiles `flag:"cluster-signing-legacy-unknown-"`
}

// CAKeyFiles are the PEM files of a CA and its key.
type CAKeyFiles struct {
	CertFile string `flag:"cert-file"`
	KeyFile  string `flag:"key-file"`
}

// given tells whether either file is named. One alone counts, so that validate sees it and reports the other.
func (c CAKeyFiles) given() bool { return c.CertFile != "" || c.KeyFile != "" }

// A signerFiles is a signer with its own files. Its flags begin with --cluster-signing- and its name there.
type signerFiles struct {
	flag  string
	files *CAKeyFiles
}

// signers returns the files of each signer. The pointers are into s.
func (s *CertificateSigning) signers() []signerFiles {
	return []signerFiles{
		{"kubelet-serving", &s.NodeServing},
		{"kubelet-client", &s.NodeClient},
		{"kube-apiserver-client", &s.APIServerClient},
		{"legacy-unknown", &s.LegacyUnknown},
	}
}

// validate refuses a CA of one signer beside a common one: which of the two signs would be a guess.
func (s CertificateSigning) validate(f *faults) {
	for _, one := range s.signers() {
		f.check(!one.files.given() || s.CertFile == "", "cluster-signing-"+one.flag+"-cert-file", "cannot be given together with cluster-signing-cert-file")
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
