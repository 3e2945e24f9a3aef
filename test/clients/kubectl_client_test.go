package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	testclient "github.com/troupe-api/troupe/test/client"
)

// A kubectlClient runs kubectl against one server in its own directory.
type kubectlClient struct {
	dir   string // working directory; also HOME, so that each client has its own cache
	env   []string
	shell *testclient.Shell // runs kubectl in workers; nil if each command is a process
}

// newClientKubectl returns a client for the given kubectl binary. Commands run in long-running
// worker processes if inWorkers is true, and as new processes otherwise.
func newClientKubectl(t *testing.T, binary string, inWorkers bool, profile, kubeconfig, dir string) kubectlClient {
	t.Helper()
	bin := filepath.Join(dir, ".bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(bin, "kubectl")); err != nil {
		t.Fatal(err)
	}
	// With WatchList, kubectl waits for a bookmark annotation that the platform profile does not
	// send.
	lasting := []string{"LANG=C", "LC_ALL=C", "TZ=UTC", "KUBE_FEATURE_WatchListClient=" + strconv.FormatBool(profile != "platform")}
	c := kubectlClient{dir: dir, env: append([]string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "KUBECONFIG=" + kubeconfig, "TMPDIR=" + dir,
	}, lasting...)}
	if inWorkers {
		c.shell = &testclient.Shell{Dir: dir, Env: c.env, Programs: map[string]*testclient.Workers{"kubectl": testclient.SharedWorkers(binary, lasting...)}}
	} else {
		c.env = append(c.env, "GOGC=off") // commands end before garbage collection would pay off
	}
	return c
}

// installedClients matches the kubectl binaries that Google Cloud CLI installs. KUBECTLS overrides
// the pattern.
const installedClients = "/usr/lib/google-cloud-sdk/bin/kubectl.1.*"

func others() ([]string, error) {
	if paths := os.Getenv("KUBECTLS"); paths != "" {
		return filepath.SplitList(paths), nil
	}
	return filepath.Glob(installedClients)
}

// run runs a shell command. A nonzero exit code is not an error.
func (c kubectlClient) run(command string) (step, error) {
	out, code, err := c.shellOutput(command)
	if err != nil {
		return step{}, fmt.Errorf("%s: %w", command, err)
	}
	output := strings.ReplaceAll(out, c.dir, "DIR")
	return step{command: command, output: normalize(output), exit: code}, nil
}

func (c kubectlClient) shellOutput(command string) (output string, code int, err error) {
	if c.shell != nil {
		return c.shell.Run(context.Background(), command)
	}
	sh := exec.Command("/bin/sh", "-c", command)
	sh.Dir, sh.Env = c.dir, c.env
	out, err := sh.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out), exit.ExitCode(), nil
	}
	return string(out), 0, err
}
