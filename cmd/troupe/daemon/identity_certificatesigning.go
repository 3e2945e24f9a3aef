package daemon

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/policy/certs"
)

// CertificateSigning configures the CAs of the CertificateSigningRequest signers. CertFile and
// KeyFile apply to all signers and cannot be combined with files for individual signers. If only
// some signers have files, the others do not sign. Without any files, the daemon's own CA signs for
// all but the legacy signer.
type CertificateSigning struct {
	CertFile        string     `flag:"cluster-signing-cert-file"`
	KeyFile         string     `flag:"cluster-signing-key-file"`
	Duration        Duration   `flag:"cluster-signing-duration"` // the maximum lifetime of a certificate
	NodeServing     CAKeyFiles `flag:"cluster-signing-kubelet-serving-"`
	NodeClient      CAKeyFiles `flag:"cluster-signing-kubelet-client-"`
	APIServerClient CAKeyFiles `flag:"cluster-signing-kube-apiserver-client-"`
	LegacyUnknown   CAKeyFiles `flag:"cluster-signing-legacy-unknown-"`
}

// CAKeyFiles are the PEM files of a CA certificate and its key.
type CAKeyFiles struct {
	CertFile string `flag:"cert-file"`
	KeyFile  string `flag:"key-file"`
}

func (c CAKeyFiles) given() bool { return c.CertFile != "" || c.KeyFile != "" }

// A signerFiles holds the files of one signer. Its flags begin with --cluster-signing- and the
// signer's name.
type signerFiles struct {
	flag  string
	files *CAKeyFiles
}

func (s *CertificateSigning) signers() []signerFiles {
	return []signerFiles{
		{"kubelet-serving", &s.NodeServing},
		{"kubelet-client", &s.NodeClient},
		{"kube-apiserver-client", &s.APIServerClient},
		{"legacy-unknown", &s.LegacyUnknown},
	}
}

// validate rejects both a signer's own CA and a common CA, because it is unclear which applies.
func (s CertificateSigning) validate(f *faults) {
	for _, one := range s.signers() {
		f.check(!one.files.given() || s.CertFile == "", "cluster-signing-"+one.flag+"-cert-file", "cannot be combined with cluster-signing-cert-file")
	}
}

func (id *identity) loadSigners() (err error) {
	s, cas := id.config.CertificateSigning, &id.signers
	if !s.anyFiles() {
		// The legacy signer does not restrict its requests, so it must not use the daemon's CA,
		// which the daemon trusts by default.
		own := id.ownCerts.Authority()
		cas.Client, cas.NodeClient, cas.NodeServer = own, own, own
		return nil
	}
	if s.CertFile != "" {
		common, err := id.signingAuthority("cluster-signing", CAKeyFiles{s.CertFile, s.KeyFile})
		*cas = certificates.Authorities{Client: common, NodeClient: common, NodeServer: common, Legacy: common}
		return err
	}
	authorities := []**certs.Authority{&cas.NodeServer, &cas.NodeClient, &cas.Client, &cas.Legacy} // in the order of signers
	for i, one := range s.signers() {
		if *authorities[i], err = id.signingAuthority("cluster-signing-"+one.flag, *one.files); err != nil {
			return err
		}
	}
	return nil
}

func (s CertificateSigning) anyFiles() bool {
	return s.CertFile != "" || slices.ContainsFunc(s.signers(), func(one signerFiles) bool { return one.files.given() })
}

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
