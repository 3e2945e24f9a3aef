package realnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// Main is the main function of a command that runs real nodes. It checks the requirements, builds
// the programs, and calls run in a sandbox with a temporary directory. root is the directory of the
// test module. The first signal cancels ctx.
func Main(name, root string, run func(ctx context.Context, dir string, p Programs) error, programs ...string) {
	err := error(nil)
	switch os.Getenv(roleVariable) {
	case "":
		err = outside(name, root, programs)
	case roleInit:
		err = initSandbox()
	case roleMachine:
		err = initMachine()
	default:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ctx, stop)
		err = run(ctx, os.Getenv(dirVariable), builtPrograms(os.Getenv(dirVariable)))
	}
	if err != nil {
		if !errors.Is(err, errReported) {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		}
		os.Exit(1)
	}
}

var errReported = errors.New("the process in the sandbox has reported its error")

// These variables distinguish the four kinds of processes of a sandboxed command.
const (
	roleVariable = "TROUPE_REALNODE_ROLE"
	dirVariable  = "TROUPE_REALNODE_DIR"

	roleInit    = "init"    // the first process of the sandbox
	roleRun     = "run"     // its child, which calls run
	roleMachine = "machine" // the first process of a machine
)

// kernelSettings lists the kernel-wide settings that a kubelet changes.
var kernelSettings = []string{"vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops"}

// outside runs the command in a sandbox, and cleans up afterwards.
func outside(name, root string, programs []string) error {
	if err := checkRequirements(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "troupe-"+name+"-")
	if err != nil {
		return err
	}
	if err := build(dir, root, programs); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	saved := map[string][]byte{}
	for _, setting := range kernelSettings {
		if saved[setting], err = os.ReadFile(filepath.Join("/proc/sys", setting)); err != nil {
			return err
		}
	}
	c, err := again(roleInit, dir)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if err = c.Start(); err == nil {
		go func() {
			for s := range signals {
				_ = c.Process.Signal(s) // it may have ended
			}
		}()
		err = c.Wait()
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		err = errReported
	}
	for setting, value := range saved {
		err = errors.Join(err, os.WriteFile(filepath.Join("/proc/sys", setting), value, 0o600))
	}
	return errors.Join(err, removeCgroups(cgroupOf(dir)), os.RemoveAll(dir))
}

// cgroupOf returns the name of the cgroup for all machines of a sandbox.
func cgroupOf(dir string) string { return filepath.Base(dir) }

// cgroups returns the directories of a cgroup: one with cgroup v2, or one per hierarchy with v1.
func cgroups(name string) ([]string, error) {
	if unified() {
		return []string{filepath.Join(cgroupRoot, name)}, nil
	}
	hierarchies, err := os.ReadDir(cgroupRoot)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, h := range hierarchies {
		if h.IsDir() { // hierarchies of cgroup v1 and, next to them, of cgroup v2
			all = append(all, filepath.Join(cgroupRoot, h.Name(), name))
		}
	}
	return all, nil
}

const cgroupRoot = "/sys/fs/cgroup"

// unified reports whether the kernel uses cgroup v2.
func unified() bool {
	_, err := os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers"))
	return err == nil
}

// createCgroup creates a cgroup and its parents, with all controllers.
func createCgroup(name string) error {
	all, err := cgroups(name)
	if err != nil {
		return err
	}
	for _, dir := range all {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for parent := filepath.Dir(dir); unified() && strings.HasPrefix(parent, cgroupRoot); parent = filepath.Dir(parent) {
			for _, controller := range []string{"cpu", "cpuset", "memory", "pids", "io", "hugetlb"} {
				// Ignore errors. If the kernel lacks a controller, the kubelet reports it.
				_ = os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+controller), 0o600)
			}
		}
		if strings.Contains(dir, "/cpuset/") {
			if err := copyCpuset(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyCpuset sets the CPUs and memory nodes of a new cgroup and its parent, which are empty in
// cgroup v1, to those of the root.
func copyCpuset(dir string) error {
	for _, d := range []string{filepath.Dir(dir), dir} {
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			value, err := os.ReadFile(filepath.Join(cgroupRoot, "cpuset", file))
			if err == nil {
				err = os.WriteFile(filepath.Join(d, file), value, 0o600)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// removeCgroups removes a cgroup and its children after their processes have exited.
func removeCgroups(name string) error {
	all, err := cgroups(name)
	for _, root := range all {
		var dirs []string
		_ = filepath.WalkDir(root, func(path string, entry os.DirEntry, _ error) error { // it may not exist
			if entry != nil && entry.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for i := len(dirs) - 1; i >= 0; i-- {
			err = errors.Join(err, os.Remove(dirs[i]))
		}
	}
	return err
}
