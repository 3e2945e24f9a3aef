package daemon

import (
	"bytes"
	"errors"
	"os"
	"syscall"

	"github.com/troupe-api/troupe/policy/certs"
)

// keepAdminKubeconfig writes the administrator's client configuration, now and whenever its
// certificates change. The daemon serves without it where the disk is full.
func (d *Daemon) keepAdminKubeconfig() error {
	admin := &adminKubeconfig{path: d.Kubeconfig(), url: d.URL(), id: d.identity}
	_, err := admin.Refresh()
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		d.log.Warn("the administrator's client configuration cannot be written", "file", d.Kubeconfig(), "error", err)
		err = nil
	}
	d.identity.reloader.Add("kubeconfig", admin.Refresh)
	return err
}

// An adminKubeconfig keeps the administrator's kubeconfig at path up to date.
type adminKubeconfig struct {
	path, url string
	id        *identity
	written   []byte // what the file holds; nil before the first Refresh
}

// Refresh writes the file if it is to hold anything else than it does.
func (c *adminKubeconfig) Refresh() (bool, error) {
	admin := c.id.certificates().Admin
	text := certs.Kubeconfig(c.url, c.id.trustBundle(), admin)
	if c.written == nil {
		c.written, _ = os.ReadFile(c.path) // if there is none, it is to be written
	}
	if bytes.Equal(text, c.written) {
		return false, nil
	}
	if err := certs.WriteFile(c.path, text); err != nil {
		return false, err
	}
	c.written = text
	return true, nil
}
