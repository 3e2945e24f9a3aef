package client

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// BuildKubectl builds the client into a directory, for which the suite is responsible.
func BuildKubectl(dir string) (string, error) {
	return Build(dir, "kubectl", "-ldflags", "-X k8s.io/component-base/version.gitVersion=v1.35.0", "github.com/troupe-api/troupe/test/kubectl/cmd/kubectl")
}

// BuildTroupe builds the daemon into a directory, with the libraries that it is delivered with, not those of the tests.
func BuildTroupe(dir string) (string, error) {
	return build(dir, "troupe", "../..", "./cmd/troupe")
}

// Build builds a program into a directory, by the arguments of go build, and returns its path.
func Build(dir, name string, args ...string) (string, error) { return build(dir, name, ".", args...) }

// build builds a program as seen from a folder of the sources.
//
// It is kept in the user's cache, from where the next suite takes it if nothing has changed: linking kubectl alone takes
// 12 s of CPU, and go build links nothing that it finds up to date. Programs of two trees of sources are kept apart. The file in
// dir is a name of its own, so that a later build does not change what a suite runs.
func build(dir, name, seenFrom string, args ...string) (string, error) {
	kept, err := programCache()
	if err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(kept, name+".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	from, to := filepath.Join(kept, name), filepath.Join(dir, name)
	command := exec.Command("go", append([]string{"build", "-o", from}, args...)...)
	command.Dir = seenFrom
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %q: %w\n%s", args, err, out)
	}
	if err := os.Link(from, to); errors.Is(err, syscall.EXDEV) {
		return to, copyProgram(from, to)
	} else if err != nil {
		return "", err
	}
	return to, nil
}

// programCache is the directory of the programs of this tree of sources.
func programCache() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	tests, err := filepath.Abs("..") // a test runs in the folder of its suite
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "troupe-test", fmt.Sprintf("%x", sha256.Sum256([]byte(tests)))[:16])
	return dir, os.MkdirAll(dir, 0o700)
}

// lock waits until no other process builds the same program.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

func copyProgram(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o700)
}
