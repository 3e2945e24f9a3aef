package realnode

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A Machine simulates a machine with its own network, mounts, processes and host name. It runs real
// programs, on a copy-on-write view of this machine's root directory.
type Machine struct {
	Name, Address string

	podCIDR string
	init    *exec.Cmd
	dir     string // contains the machine's directories that are not in memory
}

// These variables pass initMachine the machine's name and the directory of the Kubernetes programs.
const (
	machineVariable  = "TROUPE_REALNODE_MACHINE"
	programsVariable = "TROUPE_REALNODE_PROGRAMS"
)

// programsDir is the directory of the Kubernetes programs in a machine.
const programsDir = "/opt/kubernetes"

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
	if m.init, err = again(roleMachine, m.dir); err != nil {
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
		"bridge link set dev " + name + " hairpin on", // lets machines reach their own Pods through ports of other machines
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

// Kill kills all processes of the machine.
func (m *Machine) Kill() {
	_ = m.init.Process.Kill() // it may have ended
	_ = m.init.Wait()         // it was killed
}

// Disconnect disconnects the machine from the network, or reconnects it if off is false.
func (m *Machine) Disconnect(off bool) error {
	state := "up"
	if off {
		state = "down"
	}
	return run("ip", "link", "set", m.Name, state)
}

const readyLine = "ready\n"

func (m *Machine) cgroup() string { return filepath.Join(cgroupOf(filepath.Dir(m.dir)), m.Name) }

// Run runs a program in the machine.
func (m *Machine) Run(args ...string) error { return run(m.enter(args...)...) }

func (m *Machine) enter(args ...string) []string {
	return append([]string{"nsenter", "--target", strconv.Itoa(m.init.Process.Pid), "--mount", "--net", "--pid", "--ipc", "--uts", "--wd=/",
		"env", "PATH=" + programsDir + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, args...)
}

// Write writes a file in the machine and creates its parent directories.
func (m *Machine) Write(path, text string) error {
	c := m.enter("sh", "-c", `mkdir -p "$(dirname "$0")" && cat >"$0"`, path)
	return runWith(strings.NewReader(text), c...)
}

// run runs a program and includes its output in the error.
func run(args ...string) error { return runWith(nil, args...) }

func runWith(input io.Reader, args ...string) error {
	c := exec.Command(args[0], args[1:]...)
	c.Stdin = input
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
