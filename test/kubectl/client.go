package kubectl

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A client is one kubectl, at work in one directory against one server.
type client struct {
	binary     string
	kubeconfig string
	profile    string // naming profile of the server
	dir        string // working directory; also home, so that no cache is shared
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
func (c client) run(command string) (step, error) {
	bin := filepath.Join(c.dir, ".bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return step{}, err
	}
	if err := os.Symlink(c.binary, filepath.Join(bin, "kubectl")); err != nil && !errors.Is(err, os.ErrExist) {
		return step{}, err
	}
	var out bytes.Buffer
	sh := exec.Command("/bin/sh", "-c", command)
	sh.Dir, sh.Stdout, sh.Stderr = c.dir, &out, &out
	sh.Env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + c.dir, "KUBECONFIG=" + c.kubeconfig,
		"LANG=C", "LC_ALL=C", "TZ=UTC", "TMPDIR=" + c.dir,
		"GOGC=off", // a command is over before collecting garbage pays: it takes a fifth of its CPU
		// A client that watches instead of listing first waits for the vendor's bookmark
		// annotation, which the profile "platform" does not send.
		"KUBE_FEATURE_WatchListClient=" + strconv.FormatBool(c.profile != "platform"),
	}
	var exit *exec.ExitError
	if err := sh.Run(); err != nil && !errors.As(err, &exit) {
		return step{}, fmt.Errorf("%s: %w", command, err)
	}
	output := strings.ReplaceAll(out.String(), c.dir, "DIR")
	return step{command: command, output: normalize(output), exit: sh.ProcessState.ExitCode()}, nil
}
