package clients

import (
	"bytes"
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

// A kubectlClient is one kubectl, at work in one directory against one server.
type kubectlClient struct {
	dir     string // working directory; also home, so that no cache is shared
	env     []string
	workers *testclient.Workers // run the commands; nil if each is a process of its own
}

// newClientKubectl returns a client of a server of a naming profile. Its commands are processes of binary,
// or run in workers of that program.
func newClientKubectl(t *testing.T, binary string, inWorkers bool, profile, kubeconfig, dir string) kubectlClient {
	t.Helper()
	command := binary
	if inWorkers {
		command = testclient.StubBinary(t)
	}
	bin := filepath.Join(dir, ".bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(command, filepath.Join(bin, "kubectl")); err != nil {
		t.Fatal(err)
	}
	c := kubectlClient{dir: dir, env: []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "KUBECONFIG=" + kubeconfig,
		"LANG=C", "LC_ALL=C", "TZ=UTC", "TMPDIR=" + dir,
		// A client that watches instead of listing first waits for the vendor's bookmark
		// annotation, which the profile "platform" does not send.
		"KUBE_FEATURE_WatchListClient=" + strconv.FormatBool(profile != "platform"),
	}}
	if inWorkers {
		c.workers = testclient.StartWorkers(t, binary, c.env)
	} else {
		c.env = append(c.env, "GOGC=off") // a command is over before collecting garbage pays
	}
	return c
}

// installedClients are looked for where KUBECTLS names none.
const installedClients = "/usr/lib/google-cloud-sdk/bin/kubectl.1.*"

// others lists the clients for a soak.
func others() ([]string, error) {
	if paths := os.Getenv("KUBECTLS"); paths != "" {
		return filepath.SplitList(paths), nil
	}
	return filepath.Glob(installedClients)
}

// run gives one command to the shell. An error means that it did not run at all.
func (c kubectlClient) run(command string) (step, error) {
	var out bytes.Buffer
	sh := exec.Command("/bin/sh", "-c", command)
	sh.Dir, sh.Stdout, sh.Stderr, sh.Env = c.dir, &out, &out, c.env
	if c.workers != nil {
		c.workers.Attach(sh)
	}
	var exit *exec.ExitError
	if err := sh.Run(); err != nil && !errors.As(err, &exit) {
		return step{}, fmt.Errorf("%s: %w", command, err)
	}
	output := strings.ReplaceAll(out.String(), c.dir, "DIR")
	return step{command: command, output: normalize(output), exit: sh.ProcessState.ExitCode()}, nil
}
