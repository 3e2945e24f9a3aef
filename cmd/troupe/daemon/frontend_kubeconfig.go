package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/troupe-api/troupe/policy/certs"
)

// keepAdminKubeconfig writes the administrator's client configuration, now and whenever its certificates
// change. The daemon serves without it where the disk is full. It is written after the port is open, since
// it names the port. A full disk must not keep the daemon from serving the deletes that would free it.
func (e *endpoint) keepAdminKubeconfig() error {
	if e.config.kubeconfig() == "" {
		return nil
	}
	admin := &adminKubeconfig{path: e.config.kubeconfig(), url: e.url(), id: e.identity}
	_, err := admin.Refresh()
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		e.log.Warn("the administrator's client configuration cannot be written", "file", e.config.kubeconfig(), "error", err)
		err = nil
	}
	e.identity.reloader.Add("kubeconfig", admin.Refresh)
	if err != nil && e.config.Kubeconfig != "" {
		return fmt.Errorf("--write-kubeconfig: %w", err)
	}
	return err
}

// removeEphemeralKubeconfig removes the file whose server and CA end with the daemon.
func (e *endpoint) removeEphemeralKubeconfig() error {
	if path := e.config.kubeconfig(); e.config.Ephemeral && path != "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// An adminKubeconfig keeps the administrator's kubeconfig at path up to date. It is refreshed by the
// reloader, which runs one function at a time, so it needs no lock.
type adminKubeconfig struct {
	path, url string
	id        *identity
	written   []byte // what the file holds; nil before the first Refresh
}

// Refresh writes the file if it is to hold anything else than it does. A file that is right already keeps
// its time, and the tools that watch it are left alone.
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
