package daemon

import (
	"context"
	"errors"
	"net"

	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/certs"
)

// memory is the state of an ephemeral daemon that Restart keeps and Fork copies.
type memory struct {
	files    *vfs.Mem // contains the data directory
	certs    *certs.Manager
	tokenKey []byte // in PEM
}

func (m *memory) fork() *memory { return &memory{m.files.Fork(), m.certs.Fork(), m.tokenKey} }

// Restart stops the daemon and starts its successor with the same settings, state and address.
// Clients that connect meanwhile wait. ctx limits the stop. If Restart fails, no daemon runs.
func (d *Daemon) Restart(ctx context.Context) (*Daemon, error) {
	next := *d.settings
	next.config.Serving.SecurePort = d.Addr().(*net.TCPAddr).Port
	next.listener = d.endpoint.duplicate()
	successor := newDaemon(&next)
	if err := d.Stop(ctx); err != nil {
		if next.listener != nil {
			err = errors.Join(err, next.listener.Close())
		}
		return nil, err
	}
	return successor, successor.Start()
}

// duplicate returns a second listener on the socket, so that no other program can take the address.
// It returns nil on platforms that do not support this.
func (e *endpoint) duplicate() net.Listener {
	file, err := e.listener.(*net.TCPListener).File()
	if err != nil {
		return nil
	}
	defer file.Close()
	second, _ := net.FileListener(file)
	return second
}
