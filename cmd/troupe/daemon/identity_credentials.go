package daemon

import "github.com/troupe-api/troupe/policy/certs"

// Credentials are those of one user of the daemon: a client certificate, what to trust, and where the daemon is.
type Credentials struct {
	URL string
	// CA, Certificate and Key are PEM texts.
	CA, Certificate, Key []byte
	kubeconfig           []byte
}

// Kubeconfig is a client configuration with the credentials inside.
func (c *Credentials) Kubeconfig() []byte { return c.kubeconfig }

// AdminCredentials are those of the administrator, a member of system:masters. It may be called after Start only, as
// IssueCredentials.
func (d *Daemon) AdminCredentials() *Credentials {
	return d.credentials(d.identity.certificates().Admin)
}

// IssueCredentials are new credentials of a user of that name, who is a member of the groups and of system:authenticated. The
// daemon's own CA signs them, for a year. They are kept nowhere, and cannot be taken back.
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
