package realnode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// packages lists the Debian packages that contain programs for nodes and images.
var packages = map[string]string{
	"runc":                "runc",
	"iptables":            "iptables",
	"conntrack":           "conntrack",
	"ip":                  "iproute2",
	"nsenter":             "util-linux",
	"/usr/lib/cni/bridge": "containernetworking-plugins",
	"busybox":             "busybox-static",
	"bash":                "bash",
	"dash":                "dash",
	"curl":                "curl",
	"dig":                 "bind9-dnsutils",
	"nc":                  "netcat-openbsd",
}

// checkRequirements installs missing Debian packages. It returns an error if this machine cannot
// run nodes.
func checkRequirements() error {
	switch {
	case runtime.GOOS != "linux":
		return errors.New("nodes need Linux, this is " + runtime.GOOS)
	case os.Geteuid() != 0:
		return errors.New("nodes need root, for namespaces, mounts and cgroups")
	}
	for _, path := range []string{"/proc/sys/net/ipv4/ip_forward", cgroupRoot} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("nodes need %s: %w", path, err)
		}
	}
	file, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return err
	}
	if !strings.Contains(string(file), "\toverlay\n") {
		if out, err := exec.Command("modprobe", "overlay").CombinedOutput(); err != nil {
			return fmt.Errorf("nodes need the kernel's overlay file system: modprobe overlay: %w\n%s", err, out)
		}
	}
	var missing []string
	for program, name := range packages {
		if _, err := lookPath(program); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	install := "apt-get install -y --no-install-recommends " + strings.Join(missing, " ")
	fmt.Println(install)
	out, err := exec.Command("sh", "-c", "apt-get update -q && DEBIAN_FRONTEND=noninteractive "+install).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", install, err, out)
	}
	return nil
}

// lookPath is like exec.LookPath, but also searches the sbin directories, which PATH may lack.
func lookPath(program string) (string, error) {
	if filepath.IsAbs(program) { // a library may not be executable
		_, err := os.Stat(program)
		return program, err
	}
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if path := filepath.Join(dir, program); filepath.Base(program) == program {
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}
