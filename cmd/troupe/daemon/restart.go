package daemon

import (
	"context"
	"errors"
	"net"
	"reflect"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/controllers/policyobjects"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/authz/rbac"
	"github.com/troupe-api/troupe/policy/certs"
)

// memory is the state of an ephemeral daemon that Restart keeps and Fork copies.
type memory struct {
	files    *vfs.Mem // contains the data directory
	certs    *certs.Manager
	tokenKey []byte // in PEM
	// decoded is shared by a server and its forks. It is nil before the first fork.
	decoded *policyobjects.Decoded
}

// An origin is the state from which a fork starts without reading its files.
type origin struct {
	files     persist.Checkpoint
	image     *actors.Image
	rolePages rbac.Pages // of the default roles in image
}

// copyTo gives a fork the memory of d, whose files are frozen. If both have the same kinds and
// no encryption, the fork also starts from d's objects.
func (d *Daemon) copyTo(fork *Daemon, files persist.Checkpoint) {
	fork.memory = d.memory.fork()
	if d.storage.store == nil || d.naming != fork.naming || !reflect.DeepEqual(d.config.API, fork.config.API) || d.config.Encryption.ConfigFile+fork.config.Encryption.ConfigFile != "" {
		return
	}
	image, err := d.storage.store.Image(context.Background(), uint64(files.Newest))
	if err != nil {
		fork.log.Warn("the fork reads the journal, because the server has failed", "error", err)
		return
	}
	fork.origin = &origin{files, image, d.storage.rolePages()}
}

func (m *memory) fork() *memory {
	if m.decoded == nil {
		m.decoded = policyobjects.NewDecoded()
	}
	return &memory{m.files.Fork(), m.certs.Fork(), m.tokenKey, m.decoded}
}

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
