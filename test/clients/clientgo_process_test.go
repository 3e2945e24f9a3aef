package clients

import (
	"bufio"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// build makes the binary in a directory.
func build(t *testing.T, dir string) (binary string) {
	t.Helper()
	binary = filepath.Join(dir, "troupe")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", binary, "./cmd/troupe").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// ready is the line that the daemon prints.
var ready = regexp.MustCompile(`^troupe ready: (\S+) .*KUBECONFIG=(\S+) `)

// A process is one run of the binary.
type process struct {
	cmd        *exec.Cmd
	log        client.Log
	port       string
	kubeconfig string
}

// startClientGo runs the binary with a settings file, "" for none, on a port, "0" for a free one,
// and waits until it is ready.
func startClientGo(t *testing.T, binary, settings, data, port string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(binary, "serve", "--naming", "kubernetes", "--config", settings, "--data-dir", data, "--secure-port", port)}
	p.cmd.Stderr = &p.log
	out := must1(p.cmd.StdoutPipe())(t)
	mustClientGo(t, p.cmd.Start())
	t.Cleanup(p.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	found := ready.FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("the daemon said %q, %v\n%s", line, err, &p.log)
	}
	address := must1(url.Parse(found[1]))(t)
	_, p.port, err = net.SplitHostPort(address.Host)
	mustClientGo(t, err)
	p.kubeconfig = found[2]
	return p
}

// kill is kill -9, and waits for the end. It may be called twice.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // may have ended
	_ = p.cmd.Wait()         // reports the kill
}
