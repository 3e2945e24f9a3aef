package envtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// An Installation holds the options of Install.
type Installation struct {
	Dir     string // created if missing
	Binary  string // the binary to copy
	Kubectl string // a path; "" means the one on PATH, BuildKubectl builds one, NoKubectl omits it
	Log     io.Writer
}

// Special values of Installation.Kubectl.
const (
	BuildKubectl = "build"
	NoKubectl    = "none"
)

// Install installs the programs into i.Dir. They are copies of this binary, so later builds do not
// affect them. Replacing a file is atomic, so running test suites are not disturbed.
func Install(ctx context.Context, i Installation) error {
	if err := os.MkdirAll(i.Dir, 0o755); err != nil {
		return err
	}
	first := filepath.Join(i.Dir, Programs[0])
	if err := replace(first, func(path string) error { return copyProgram(i.Binary, path) }); err != nil {
		return err
	}
	for _, name := range Programs[1:] {
		if err := replace(filepath.Join(i.Dir, name), func(path string) error { return linkOrCopy(first, path) }); err != nil {
			return err
		}
	}
	fmt.Fprintf(i.Log, "%v in %s: copies of this program\n", Programs, i.Dir)
	return i.kubectl(ctx)
}

func (i Installation) kubectl(ctx context.Context) error {
	to := filepath.Join(i.Dir, "kubectl")
	switch i.Kubectl {
	case NoKubectl:
		return nil
	case BuildKubectl:
		fmt.Fprintf(i.Log, "kubectl: being built by Go from %s %s\n", kubectlModule, kubectlVersion)
		return replace(to, func(path string) error { return buildKubectl(ctx, path) })
	}
	from, err := i.findKubectl()
	if err != nil {
		return err
	}
	if from == "" {
		fmt.Fprintf(i.Log, "kubectl: none in PATH; for suites that call it, use --kubectl=PATH, or build it with --kubectl=%s\n", BuildKubectl)
		return nil
	}
	fmt.Fprintf(i.Log, "kubectl: a link to %s\n", from)
	return replace(to, func(path string) error { return os.Symlink(from, path) })
}

// findKubectl returns the path of the kubectl to link to, or "" if PATH contains none. It skips
// i.Dir, because a link must not point to itself.
func (i Installation) findKubectl() (string, error) {
	if i.Kubectl != "" {
		path, err := filepath.Abs(i.Kubectl)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(path)
		if err == nil && (info.IsDir() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0) {
			err = fmt.Errorf("--kubectl: %s is not a program", path)
		}
		return path, err
	}
	own, err := os.Stat(i.Dir)
	if err != nil {
		return "", err
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(dir); err != nil || os.SameFile(info, own) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, "kubectl")); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", nil
}

func replace(path string, make func(path string) error) error {
	made := fmt.Sprintf("%s.new-%d", path, os.Getpid())
	if err := make(made); err != nil {
		return errors.Join(err, removeIfThere(made))
	}
	if err := os.Rename(made, path); err != nil {
		return errors.Join(err, removeIfThere(made))
	}
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return copyProgram(from, to)
}

func copyProgram(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Module path and version of the kubectl to build.
const (
	kubectlModule  = "k8s.io/kubectl"
	kubectlVersion = "v0.37.2"
	kubectlRelease = "v1.37.2"
)

// kubectlMain is kubectl's main package. "go install" cannot install the original, which is in
// k8s.io/kubernetes. All other code is in k8s.io/kubectl.
const kubectlMain = `package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
`

// buildKubectl builds kubectl in a temporary module, using the Go toolchain on PATH.
func buildKubectl(ctx context.Context, to string) error {
	dir, err := os.MkdirTemp("", "troupe-kubectl-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(kubectlMain), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"mod", "init", "kubectl"},
		{"get", kubectlModule + "@" + kubectlVersion, "k8s.io/component-base@" + kubectlVersion},
		{"build", "-mod=mod", "-trimpath", "-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=" + kubectlRelease, "-o", to, "."},
	} {
		command := exec.CommandContext(ctx, "go", args...)
		command.Dir, command.Env = dir, append(slices.Clip(os.Environ()), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("building kubectl: go %v: %w\n%s", args, err, out)
		}
	}
	return nil
}
