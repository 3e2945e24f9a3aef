package kubeconfig

import (
	"log/slog"
	"os"
	"sync"
	"time"
)

const checkPeriod = time.Second

// A UsersFile provides the current Users of a kubeconfig, which it reloads when the file changes.
// While the file is invalid, the previous users stay in use. A UsersFile is safe for concurrent
// use. A nil UsersFile has no users.
type UsersFile struct {
	path string
	log  *slog.Logger

	mu        sync.Mutex // guards the fields below
	users     *Users
	read      fileState
	checkedAt time.Time
}

// fileState identifies a version of a file. Modification time and size are sufficient, because
// files with credentials are replaced by renaming.
type fileState struct {
	modified time.Time
	size     int64
}

// OpenUsers loads the users in the kubeconfig at path.
func OpenUsers(path string, log *slog.Logger) (*UsersFile, error) {
	state, _ := stateOf(path)
	users, err := LoadUsers(path)
	if err != nil {
		return nil, err
	}
	return &UsersFile{path: path, log: log, users: users, read: state, checkedAt: time.Now()}, nil
}

func stateOf(path string) (fileState, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}, err
	}
	return fileState{info.ModTime(), info.Size()}, nil
}

// For returns the credential for a server, as Users.For does.
func (f *UsersFile) For(target string) *Credential {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.checkedAt) >= checkPeriod {
		f.checkedAt = now
		f.reload()
	}
	return f.users.For(target)
}

// reload reloads the file if it has changed. It reads an invalid file only once, so that the error
// is logged only once.
func (f *UsersFile) reload() {
	state, err := stateOf(f.path)
	if err == nil && state == f.read {
		return
	}
	f.read = state
	users, err := LoadUsers(f.path)
	if err != nil {
		f.log.Error("failed to reload credentials; the previous ones stay in use", "error", err)
		return
	}
	f.users = users
}
