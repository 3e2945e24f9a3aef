package storage

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// crashSettings makes segments and snapshots small and the watch history short. Kills then coincide
// with rotations, snapshots and the removal of old segments. A daemon with enough data also takes a
// snapshot at startup, while the load begins. Objects are encrypted.
const crashSettings = `
encryption-provider-config: %q
secure-port: 0
journal-segment-bytes: 1Mi
snapshot-journal-bytes: 1Mi
watch-history-time: %s
`

// historyTime is the duration of the watch history. On an idle machine, a cycle is much shorter.
const historyTime = 15 * time.Second

// crashKeys is the encryption configuration for the workers' objects, with two keys. Writes use the
// first one.
const crashKeys = `
apiVersion: apiserver.config.platform.io/v1
kind: EncryptionConfiguration
resources:
- resources: [configmaps]
  providers: [{aesgcm: {keys: [{name: key-%[1]d, secret: %[1]d2V5LW9mLTMyLWJ5dGVzLWZvci10aGUtY3Jhc2gtdGU=}, {name: key-%[2]d, secret: %[2]d2V5LW9mLTMyLWJ5dGVzLWZvci10aGUtY3Jhc2gtdGU=}]}}]
`

// writeKeys writes the encryption configuration to dir and returns its path.
func writeKeys(t *testing.T, dir string, first, second int) string {
	t.Helper()
	path := filepath.Join(dir, "encryption.yaml")
	client.WriteFile(t, path, fmt.Sprintf(crashKeys, first, second))
	return path
}

// A crashProcess is one run of the troupe binary.
type crashProcess struct {
	*client.Client
	*client.Process
	calls int // number of system calls until the process was ready
}

// build returns the paths of the troupe binary and of a configuration file that it writes to dir.
func build(t *testing.T, dir string) (binary, config string) {
	t.Helper()
	config = filepath.Join(dir, "troupe.yaml")
	client.WriteFile(t, config, fmt.Sprintf(crashSettings, writeKeys(t, dir, 1, 2), historyTime))
	return client.TroupeBinary(t), config
}

func start(t *testing.T, binary, config, data string) *crashProcess {
	t.Helper()
	p, ready := launch(t, exec.Command(binary, serveArguments(t, config, data)...))
	if !ready {
		t.Fatalf("not ready: %s\n%s", p.Cmd.ProcessState, p.Log)
	}
	return p
}

func serveArguments(t *testing.T, config, data string) []string {
	return append([]string{"serve", "--config", config, "--data-dir", data, "--controllers", client.WithoutRoots}, client.StoreFlags(t, data)...)
}

// launch runs a serve command until it is ready or has exited. ready reports which of the two
// happened.
func launch(t *testing.T, cmd *exec.Cmd) (p *crashProcess, ready bool) {
	t.Helper()
	p = &crashProcess{Process: client.Start(t, cmd)}
	if !p.AwaitReady() {
		return p, false
	}
	var err error
	if p.Client, err = client.New(p.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.calls, _ = systemCalls(p.Cmd.Process.Pid)
	return p, true
}

// systemCalls returns the number of read and write system calls of a process. known is false if the
// operating system does not count them.
func systemCalls(process int) (n int, known bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", process))
	if err != nil {
		return 0, false
	}
	for _, match := range callCounts.FindAllStringSubmatch(string(text), -1) {
		count, _ := strconv.Atoi(match[1]) // cannot fail, because only digits match
		n += count
	}
	return n, true
}

var callCounts = regexp.MustCompile(`(?m)^sysc[rw]: (\d+)$`)

// checkEnd returns an error unless the process exited with status 1 and an error message.
func (p *crashProcess) checkEnd() error {
	state := p.Cmd.ProcessState
	if logs := p.Log.String(); state.ExitCode() != 1 || !strings.Contains(logs, "troupe: ") || strings.Contains(logs, "goroutine ") {
		return fmt.Errorf("the daemon ended with %s\n%s", state, logs)
	}
	return nil
}

// kill sends SIGKILL and waits for the process to exit. It returns an error if the daemon had
// already exited, to distinguish a crash from the kill.
func (p *crashProcess) kill() error {
	p.Kill()
	p.Close()
	if status := p.Cmd.ProcessState.String(); status != "signal: killed" {
		return fmt.Errorf("the daemon had ended before the kill: %s\n%s", status, p.Log)
	}
	return nil
}
