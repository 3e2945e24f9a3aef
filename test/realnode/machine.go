package realnode

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A Machine is a simulated machine with real programs: it has its own network, mounts, processes
// and host name. Its root directory is a copy-on-write view of this machine's.
type Machine struct {
	Name, Address string

	podCIDR string
	init    *exec.Cmd
	dir     string // its directories that are not in memory
}

// These variables pass a machine's name, and the directory of the programs of Kubernetes, to
// initMachine.
const (
	machineVariable  = "TROUPE_REALNODE_MACHINE"
	programsVariable = "TROUPE_REALNODE_PROGRAMS"
)

// programsDir is the directory of the programs of Kubernetes in a machine.
const programsDir = "/opt/kubernetes"

// startMachine starts a machine and connects it to the bridge.
func startMachine(dir, programs, name, address string) (*Machine, error) {
	m := &Machine{Name: name, Address: address, dir: filepath.Join(dir, name)}
	for _, sub := range []string{"root", "kubelet", "containerd"} {
		if err := os.MkdirAll(filepath.Join(m.dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	if err := createCgroup(m.cgroup()); err != nil {
		return nil, err
	}
	var err error
	if m.init, err = again(roleMachine, m.dir, syscall.CLONE_NEWNS|syscall.CLONE_NEWNET|syscall.CLONE_NEWPID|syscall.CLONE_NEWIPC|syscall.CLONE_NEWUTS); err != nil {
		return nil, err
	}
	m.init.Env = append(m.init.Env, machineVariable+"="+name, programsVariable+"="+programs)
	ready, child, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	m.init.ExtraFiles = []*os.File{child}
	err = m.init.Start()
	_ = child.Close() // the machine has a copy
	if err != nil {
		return nil, err
	}
	if line, err := io.ReadAll(ready); err != nil || string(line) != readyLine {
		return nil, errors.Join(fmt.Errorf("machine %s does not start", name), err, m.init.Wait())
	}
	pid := strconv.Itoa(m.init.Process.Pid)
	for _, command := range []string{
		"ip link add " + name + " type veth peer name eth0 netns " + pid,
		"ip link set " + name + " master " + bridge + " up",
		"bridge link set dev " + name + " hairpin on", // to reach own Pods through ports of other machines
	} {
		if err := run(strings.Fields(command)...); err != nil {
			return nil, err
		}
	}
	for _, command := range []string{
		"ip link set lo up",
		"ip addr add " + address + "/24 dev eth0",
		"ip link set eth0 up",
		"ip route add default via " + serverAddress,
		"sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1",
	} {
		if err := m.Run(strings.Fields(command)...); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Kill ends all processes of the machine.
func (m *Machine) Kill() {
	_ = m.init.Process.Kill() // it may have ended
	_ = m.init.Wait()         // it was killed
}

// Disconnect takes the machine off the network, or connects it again.
func (m *Machine) Disconnect(off bool) error {
	state := "up"
	if off {
		state = "down"
	}
	return run("ip", "link", "set", m.Name, state)
}

const readyLine = "ready\n"

// cgroup returns the cgroup of the machine's containers.
func (m *Machine) cgroup() string { return filepath.Join(cgroupOf(filepath.Dir(m.dir)), m.Name) }

// Run runs a program in the machine.
func (m *Machine) Run(args ...string) error { return run(m.enter(args...)...) }

// enter returns the command that runs a program in the machine.
func (m *Machine) enter(args ...string) []string {
	return append([]string{"nsenter", "--target", strconv.Itoa(m.init.Process.Pid), "--mount", "--net", "--pid", "--ipc", "--uts", "--wd=/",
		"env", "PATH=" + programsDir + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, args...)
}

// Write writes a file of the machine, with the directories above it.
func (m *Machine) Write(path, text string) error {
	c := m.enter("sh", "-c", `mkdir -p "$(dirname "$0")" && cat >"$0"`, path)
	return runWith(strings.NewReader(text), c...)
}

// run runs a program. Its output is part of the error.
func run(args ...string) error { return runWith(nil, args...) }

func runWith(input io.Reader, args ...string) error {
	c := exec.Command(args[0], args[1:]...)
	c.Stdin = input
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// initMachine is the first process of a machine. It builds the machine's root directory and reaps
// orphans.
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
