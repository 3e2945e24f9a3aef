package cluster

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/troupe-api/troupe/test/client"
)

// programs are the paths of what a cluster is made of. manager and scheduler are empty where those that are built into the
// daemon do the work.
type programs struct{ troupe, kubectl, manager, scheduler string }

// build builds what is tested, and with it the programs of Kubernetes if they are wanted.
func build(dir string, kubernetes bool) (p programs, err error) {
	if p.troupe, err = client.BuildTroupe(dir); err != nil {
		return p, err
	}
	if p.kubectl, err = client.BuildKubectl(dir); err != nil || !kubernetes {
		return p, err
	}
	if p.manager, err = Program("binaries", "kube-controller-manager"); err != nil {
		return p, err
	}
	p.scheduler, err = Program("binaries", "kube-scheduler")
	return p, err
}

// Program is the path of a program of Kubernetes, at the version that go.mod in the folder module pins. It is built if it is
// not in the user's cache yet, which takes some minutes and 2 GiB for the first one; TROUPE_PROGRAMS names a folder that has it.
func Program(module, name string) (string, error) {
	if dir := os.Getenv("TROUPE_PROGRAMS"); dir != "" {
		path := filepath.Join(dir, name)
		_, err := os.Stat(path)
		return path, err
	}
	pins, err := os.ReadFile(filepath.Join(module, "go.mod"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "troupe-test", fmt.Sprintf("kubernetes-%x", sha256.Sum256(pins))[:27])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { // two suites do not build at the same time
		return "", err
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	command := exec.Command("sh", "build.sh", name, path)
	command.Dir = module
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return path, nil
}
