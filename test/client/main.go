package client

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"testing"
)

var shared struct {
	sync.Mutex
	end []func() error
}

// AtEnd registers a function to run after the last test of the suite. Functions run in reverse
// order.
func AtEnd(f func() error) {
	shared.Lock()
	defer shared.Unlock()
	shared.end = append(shared.end, f)
}

// Main runs the tests of a suite and then the functions registered by AtEnd. It returns the exit
// code for TestMain.
func Main(m *testing.M) int {
	if signal.Ignored(os.Interrupt) { // as in a shell's background job; child processes would inherit this
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	var err error
	for i := len(shared.end) - 1; i >= 0; i-- {
		err = errors.Join(err, shared.end[i]())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// Shared is a value created once for all tests of a suite.
type Shared[T any] struct {
	once func() (T, error)
}

// NewShared returns a Shared whose value is created by make on first use.
func NewShared[T any](make func() (T, error)) Shared[T] {
	return Shared[T]{sync.OnceValues(make)}
}

// Get returns the value. It fails the test if the value cannot be created.
func (s Shared[T]) Get(t testing.TB) T {
	t.Helper()
	v, err := s.once()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// SharedDir creates a directory that is removed after the last test of the suite.
func SharedDir() (string, error) {
	dir, err := os.MkdirTemp("", "troupe-tests-")
	if err == nil {
		AtEnd(func() error { return os.RemoveAll(dir) })
	}
	return dir, err
}

var programs = NewShared(SharedDir)

func program(build func(dir string) (string, error)) Shared[string] {
	return NewShared(func() (string, error) {
		dir, err := programs.once()
		if err != nil {
			return "", err
		}
		return build(dir)
	})
}

var troupe, troupeWorker, kubectl = program(BuildTroupe), program(BuildTroupeWorker), program(BuildKubectl)

// TroupeBinary returns the path of troupe, built once per suite.
func TroupeBinary(t testing.TB) string {
	t.Helper()
	return troupe.Get(t)
}

// TroupeWorkerBinary returns the path of the troupe worker, built once per suite.
func TroupeWorkerBinary(t testing.TB) string {
	t.Helper()
	return troupeWorker.Get(t)
}

// KubectlBinary returns the path of kubectl, built once per suite unless TROUPE_KUBECTL contains
// another path.
func KubectlBinary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("TROUPE_KUBECTL"); path != "" {
		return path
	}
	return kubectl.Get(t)
}
