package kubeconfig

import (
	"log/slog"
	"os"
	"sync"
	"time"
)

// checkPeriod is how long a UsersFile goes without looking whether the file has changed.
const checkPeriod = time.Second

// A UsersFile is the Users of a file as it is now. When the file changes it is read again; while it is broken,
// the users of before count. Many goroutines may use it. The nil UsersFile has none.
type UsersFile struct {
	path string
	log  *slog.Logger

	mu        sync.Mutex // guards the rest
	users     *Users
	read      fileState
	checkedAt time.Time
}

// fileState tells versions of a file apart. Time and size are enough: credentials are replaced by a rename,
// which gives the file a new time.
type fileState struct {
	modified time.Time
	size     int64
}

// OpenUsers reads the users of the file at path.
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

// For is the credential for a server, as Users.For.
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

// A file that is broken is not looked at again until it changes, so that the log says it once.
func (f *UsersFile) reload() {
	state, err := stateOf(f.path)
	if err == nil && state == f.read {
		return
	}
	f.read = state
	users, err := LoadUsers(f.path)
	if err != nil {
		f.log.Error("the credentials of before stay in use", "error", err)
		return
	}
	f.users = users
}
