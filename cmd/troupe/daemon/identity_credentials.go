package daemon

import "github.com/troupe-api/troupe/policy/certs"

// Credentials are a user's client certificate, and the URL and CA of the daemon.
type Credentials struct {
	URL string
	// CA, Certificate and Key are PEM-encoded.
	CA, Certificate, Key []byte
	kubeconfig           []byte
}

// Kubeconfig returns a kubeconfig that embeds the credentials.
func (c *Credentials) Kubeconfig() []byte { return c.kubeconfig }

// AdminCredentials returns the credentials of the administrator, a member of system:masters. Call
// AdminCredentials and IssueCredentials only after Start.
func (d *Daemon) AdminCredentials() *Credentials {
	return d.credentials(d.identity.certificates().Admin)
}

// IssueCredentials returns new credentials for a user in the given groups, signed by the daemon's
// own CA and valid for a year. They are not stored and cannot be revoked.
func (d *Daemon) IssueCredentials(name string, groups ...string) (*Credentials, error) {
	user, err := d.identity.ownCerts.IssueClient(name, groups...)
	if err != nil {
		return nil, err
	}
	return d.credentials(user), nil
}

func (d *Daemon) credentials(user *certs.Pair) *Credentials {
	ca := d.identity.trustBundle()
	return &Credentials{URL: d.URL(), CA: ca, Certificate: user.CertPEM, Key: user.KeyPEM, kubeconfig: certs.Kubeconfig(d.URL(), ca, user)}
}
