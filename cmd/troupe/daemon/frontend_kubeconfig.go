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

// keepAdminKubeconfig writes the administrator's kubeconfig and updates it when its certificates
// change. The listener must be open, because the URL contains its port. A full disk is only logged,
// because the daemon must still serve deletes that free space.
func (e *endpoint) keepAdminKubeconfig() error {
	if e.config.kubeconfig() == "" {
		return nil
	}
	admin := &adminKubeconfig{path: e.config.kubeconfig(), url: e.url(), id: e.identity}
	_, err := admin.Refresh()
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		e.log.Warn("cannot write the administrator's kubeconfig", "file", e.config.kubeconfig(), "error", err)
		err = nil
	}
	e.identity.reloader.Add("kubeconfig", admin.Refresh)
	if err != nil && e.config.Kubeconfig != "" {
		return fmt.Errorf("--write-kubeconfig: %w", err)
	}
	return err
}

func (e *endpoint) removeEphemeralKubeconfig() error {
	if path := e.config.kubeconfig(); e.config.Ephemeral && path != "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// An adminKubeconfig updates the kubeconfig at path. It needs no lock, because the reloader runs
// functions one at a time.
type adminKubeconfig struct {
	path, url string
	id        *identity
	written   []byte // content of the file; nil before the first Refresh
}

// Refresh writes the file if its content has changed, and reports whether it did. Otherwise, the
// file keeps its modification time.
func (c *adminKubeconfig) Refresh() (bool, error) {
	admin := c.id.certificates().Admin
	text := certs.Kubeconfig(c.url, c.id.trustBundle(), admin)
	if c.written == nil {
		c.written, _ = os.ReadFile(c.path) // a missing file is written
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
