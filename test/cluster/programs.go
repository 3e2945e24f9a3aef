package cluster

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
	"github.com/troupe-api/troupe/test/client"
)

// programs contains the paths of a cluster's programs. With built-in controllers, only troupe is
// set.
type programs struct{ troupe, manager, scheduler, kubeadm, kwok string }

// build builds troupe and, if kubernetes is true, kube-controller-manager, kube-scheduler, kubeadm
// and kwok.
func build(dir string, kubernetes bool) (p programs, err error) {
	if p.troupe, err = client.BuildTroupe(dir); err != nil || !kubernetes {
		return p, err
	}
	for _, program := range []struct {
		path         *string
		module, name string
	}{{&p.manager, "kubernetes", "kube-controller-manager"}, {&p.scheduler, "kubernetes", "kube-scheduler"}, {&p.kubeadm, "kubernetes", "kubeadm"}, {&p.kwok, "kwok", "kwok"}} {
		if *program.path, err = Program(program.module, program.name); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Program returns the path of a program at the version in module/go.mod. The first call builds it
// with build.sh into the user's cache directory, which takes minutes and downloads gigabytes.
// TROUPE_PROGRAMS selects a directory with existing programs instead.
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
	dir := filepath.Join(cache, "troupe-test", fmt.Sprintf("%s-%.8x", filepath.Base(module), sha256.Sum256(pins)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := processes.WaitForLock(lock); err != nil { // suites must not build at the same time
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

// ModuleDir downloads a module at the version in pins/go.mod and returns its directory.
func ModuleDir(pins, module string) (string, error) {
	command := exec.Command("go", "mod", "download", "-json", module)
	command.Dir, command.Env = pins, append(os.Environ(), "GOWORK=off")
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", module, err)
	}
	var m struct{ Dir string }
	return m.Dir, json.Unmarshal(out, &m)
}
