//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest/freeport"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/cluster"
)

// pins is a directory with a go.mod that pins the Kubernetes version.
const pins = "../../cluster/kubernetes"

// A suite is a copy of Kubernetes' command-line suite, with the programs that it needs.
type suite struct {
	dir       string   // directory of the run, which contains the tree
	functions []string // functions of the groups, in the suite's order
	builtIn   bool
}

// files lists the parts of the Kubernetes module that the suite reads.
var files = []string{"hack", "test/cmd", "test/conformance/testdata", "test/e2e/testing-manifests", "test/fixtures", "third_party/forked/shell2junit", "api/openapi-spec"}

// newSuite copies the tree below dir, and puts programs where the suite expects its own builds.
func newSuite(dir string, builtIn bool) (*suite, error) {
	s := &suite{dir: dir, builtIn: builtIn}
	module, err := cluster.ModuleDir(pins, "k8s.io/kubernetes")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if err := copyTree(filepath.Join(s.tree(), name), filepath.Join(module, name)); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{s.bin(), s.tools(), s.temporary()} {
		if err := os.MkdirAll(name, 0o755); err != nil {
			return nil, err
		}
	}
	return s, errors.Join(s.readFunctions(), s.addPrograms())
}

func (s *suite) tree() string      { return filepath.Join(s.dir, "kubernetes") }
func (s *suite) bin() string       { return filepath.Join(s.tree(), "_output", "bin") }
func (s *suite) tools() string     { return filepath.Join(s.dir, "tools") }
func (s *suite) temporary() string { return filepath.Join(s.dir, "tmp") }

// copyTree copies a directory of a module. It sets permissions, because files of a module are
// read-only and not executable.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if bytes.HasPrefix(text, []byte("#!")) {
			mode = 0o755
		}
		return os.WriteFile(target, text, mode)
	})
}

// addPrograms creates symlinks for the programs that the suite and its setup expect.
func (s *suite) addPrograms() error {
	troupe, err := client.BuildTroupe(s.dir)
	if err != nil {
		return err
	}
	links := map[string]string{filepath.Join(s.bin(), "kube-apiserver"): troupe}
	programs := []string{"kubectl", "kubectl-convert"}
	if !s.builtIn {
		programs = append(programs, "kube-controller-manager")
	}
	for _, name := range programs {
		if links[filepath.Join(s.bin(), name)], err = cluster.Program(pins, name); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	links[filepath.Join(s.tools(), "make")] = self
	links[filepath.Join(s.tools(), "etcd")] = self
	if s.builtIn {
		links[filepath.Join(s.bin(), "kube-controller-manager")] = self
	}
	for name, program := range links {
		if err := os.Symlink(program, name); err != nil {
			return err
		}
	}
	return nil
}

// recorded matches a group in the suite's script.
var recorded = regexp.MustCompile(`(?m)^ *record_command (run_\w+)`)

func (s *suite) readFunctions() error {
	text, err := os.ReadFile(filepath.Join(s.tree(), "test/cmd/legacy-script.sh"))
	if err != nil {
		return err
	}
	for _, match := range recorded.FindAllSubmatch(text, -1) {
		s.functions = append(s.functions, string(match[1]))
	}
	if len(s.functions) == 0 {
		return errors.New("legacy-script.sh records no groups")
	}
	return nil
}

// selectGroups returns the named groups. Without names, it returns all groups, and the checks
// between them.
func (s *suite) selectGroups(names []string) ([]string, error) {
	var groups []string
	for _, function := range s.functions {
		groups = append(groups, groupOf(function))
	}
	if len(names) == 0 {
		return append(groups, between), nil
	}
	for _, name := range names {
		if !slices.Contains(groups, name) {
			return nil, fmt.Errorf("the suite has no group %q; it has %s", name, strings.Join(groups, ", "))
		}
	}
	return names, nil
}

// run runs the suite. It returns an error if a check fails.
func (s *suite) run(ctx context.Context, names []string, output io.Writer) error {
	environment, err := s.environment(names)
	if err != nil {
		return err
	}
	m, err := startMirror(s.dir, s.tree())
	if err != nil {
		return err
	}
	defer m.stop()
	environment = append(environment, m.environment()...)
	script := exec.CommandContext(ctx, "bash", "hack/make-rules/test-cmd.sh")
	script.Dir, script.Env, script.Stdout, script.Stderr = s.tree(), environment, output, output
	script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	script.Cancel = func() error { return syscall.Kill(-script.Process.Pid, syscall.SIGTERM) }
	script.WaitDelay = 10 * time.Second
	if err := script.Start(); err != nil {
		return err
	}
	// The suite stops its servers in shell traps, but background processes of a failed group may
	// survive.
	defer func() { _ = syscall.Kill(-script.Process.Pid, syscall.SIGKILL) }()
	return script.Wait()
}

func (s *suite) environment(names []string) ([]string, error) {
	functions := filepath.Join(s.dir, "functions.sh")
	if err := os.WriteFile(functions, []byte(s.aliases()), 0o600); err != nil {
		return nil, err
	}
	ports := map[string]int{}
	for _, name := range []string{"ETCD_PORT", "SECURE_API_PORT"} {
		port, err := freeport.Find()
		if err != nil {
			return nil, err
		}
		ports[name] = port
	}
	controllers := "*"
	if s.builtIn {
		controllers += ",workloads,node-lifecycle-controller,taint-eviction-controller" // kube-controller-manager's defaults
	}
	return []string{
		"PATH=" + s.tools() + ":" + os.Getenv("PATH"),
		"HOME=" + s.dir,
		"TERM=xterm", // the suite colors its output
		"TMPDIR=" + s.temporary(),
		"BASH_ENV=" + functions,
		"WHAT=" + strings.Join(names, " "),
		"ALLOW_SKEW=true", // kubectl and the server are different builds
		"KUBEADM_PATH=" + filepath.Join(s.bin(), "kubeadm"),
		"KUBE_JUNIT_REPORT_DIR=" + filepath.Join(s.dir, "junit"),
		"SERVICE_ACCOUNT_KEY=" + filepath.Join(s.dir, "sa.key"),
		fmt.Sprint("ETCD_PORT=", ports["ETCD_PORT"]),
		fmt.Sprint("SECURE_API_PORT=", ports["SECURE_API_PORT"]),
		"TROUPE_APISERVER_FLAGS=--controllers=" + controllers,
	}, nil
}

// aliases defines a shell function NAME_tests for each function NAME without that suffix. The suite
// selects its tests by names with the suffix.
func (s *suite) aliases() string {
	var text strings.Builder
	for _, function := range s.functions {
		if !strings.HasSuffix(function, "_tests") {
			fmt.Fprintf(&text, "%[1]s_tests() { %[1]s; }\n", function)
		}
	}
	return text.String()
}
