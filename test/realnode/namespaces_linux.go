package realnode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
)

// namespaces maps roles to the new namespaces of their processes.
var namespaces = map[string]uintptr{
	roleInit:    syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC,
	roleMachine: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
}

// again returns a command that reruns this program in the namespaces of a role. The child is killed
// when this process exits.
func again(role, dir string) (*exec.Cmd, error) {
	runtime.LockOSThread() // Pdeathsig refers to the thread
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(own, os.Args[1:]...)
	c.Env = append(os.Environ(), roleVariable+"="+role, dirVariable+"="+dir)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces[role], Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return c, nil
}

// initSandbox is the first process of a sandbox. It runs the command in a child, forwards signals,
// and reaps orphans.
func initSandbox() error {
	if err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("proc", "/proc", "proc", 0, ""),
		syscall.Mount("tmpfs", "/run", "tmpfs", 0, ""),
	); err != nil {
		return err
	}
	c, err := again(roleRun, os.Getenv(dirVariable))
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if err := c.Start(); err != nil {
		return err
	}
	go func() {
		for s := range signals {
			_ = c.Process.Signal(s) // it may have ended
		}
	}()
	os.Exit(reap(c.Process.Pid))
	return nil
}

// reap waits for children, including orphans, until child exits, and returns its exit status.
func reap(child int) int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 1
		case pid == child && status.Exited():
			return status.ExitStatus()
		case pid == child:
			return 128 + int(status.Signal())
		}
	}
}

// initMachine is the first process of a machine. It sets up the root directory and reaps orphans.
func initMachine() error {
	dir := os.Getenv(dirVariable)
	root := filepath.Join(dir, "root")
	// The upper directory must not be below the lower one, so it is in memory.
	if err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("tmpfs", root, "tmpfs", 0, "mode=755"),
		makeDirs(root, "upper", "work", "merged"),
		syscall.Mount("overlay", filepath.Join(root, "merged"), "overlay", 0, fmt.Sprintf("lowerdir=/,upperdir=%[1]s/upper,workdir=%[1]s/work", root)),
	); err != nil {
		return err
	}
	merged := filepath.Join(root, "merged")
	if err := makeDirs(merged, "proc", "sys", "dev", "run", "tmp", "var/log", "var/lib/kubelet", "var/lib/containerd", programsDir, ".old"); err != nil {
		return err
	}
	type mount struct {
		source, target, kind string
		flags                uintptr
	}
	for _, m := range []mount{
		{"proc", "proc", "proc", 0},
		{"sysfs", "sys", "sysfs", 0},
		{cgroupRoot, cgroupRoot, "", syscall.MS_BIND | syscall.MS_REC},
		{"/dev", "dev", "", syscall.MS_BIND | syscall.MS_REC},
		{"tmpfs", "run", "tmpfs", 0},
		{"tmpfs", "tmp", "tmpfs", 0},
		{"tmpfs", "var/log", "tmpfs", 0},
		{filepath.Join(dir, "kubelet"), "var/lib/kubelet", "", syscall.MS_BIND},
		{filepath.Join(dir, "containerd"), "var/lib/containerd", "", syscall.MS_BIND},
		{os.Getenv(programsVariable), programsDir, "", syscall.MS_BIND},
	} {
		if err := syscall.Mount(m.source, filepath.Join(merged, m.target), m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	if err := errors.Join(
		syscall.PivotRoot(merged, filepath.Join(merged, ".old")),
		os.Chdir("/"),
		syscall.Unmount("/.old", syscall.MNT_DETACH),
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""), // volumes may propagate mounts
		syscall.Sethostname([]byte(os.Getenv(machineVariable))),
	); err != nil {
		return err
	}
	ready := os.NewFile(3, "ready")
	if _, err := ready.WriteString(readyLine); err != nil {
		return err
	}
	if err := ready.Close(); err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	for range ended {
		for pid := 1; pid > 0; pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil) { // no child is left
		}
	}
	return nil
}

func makeDirs(root string, names ...string) error {
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			return err
		}
	}
	return nil
}
