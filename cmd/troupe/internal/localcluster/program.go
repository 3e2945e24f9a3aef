package localcluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// programTimeout is the time between SIGTERM and SIGKILL.
const programTimeout = 10 * time.Second

// startProgram starts kube-controller-manager or kube-scheduler with administrator permissions and
// the daemon's keys. The client QPS is practically unlimited. The burst is low, because client-go
// keeps only 25 idle connections, and more concurrent requests would need new TLS handshakes.
func (r *run) startProgram(name, path string) error {
	if path == BuiltIn {
		return nil
	}
	logs, err := r.logFile(name)
	if err != nil {
		return err
	}
	kubeconfig, pki := filepath.Join(r.dataDir(), "admin.kubeconfig"), filepath.Join(r.dataDir(), "pki")
	args := []string{"--kubeconfig=" + kubeconfig, "--leader-elect=true", "--secure-port=0", "--kube-api-qps=1000", "--kube-api-burst=20"}
	if name == "kube-controller-manager" {
		args = append(args,
			"--use-service-account-credentials=true", "--service-account-private-key-file="+filepath.Join(pki, "sa.key"),
			"--root-ca-file="+filepath.Join(pki, "ca.crt"), "--cluster-signing-cert-file="+filepath.Join(pki, "ca.crt"), "--cluster-signing-key-file="+filepath.Join(pki, "ca.key"),
		)
	}
	c := exec.Command(path, args...)
	c.Stdout, c.Stderr = logs, logs
	c.SysProcAttr = ownGroup() // Ctrl-C is for this process, which stops the others in order
	if err := c.Start(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	ended, stopping := make(chan struct{}), make(chan struct{})
	go func() {
		err := c.Wait()
		close(ended)
		select {
		case <-stopping:
		default:
			r.ended <- fmt.Errorf("%s ended (%w); see its log %s", name, errors.Join(err, os.ErrProcessDone), logs.Name())
		}
	}()
	r.stops = append(r.stops, func() error {
		close(stopping)
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-ended:
		case <-time.After(programTimeout):
			_ = c.Process.Kill()
			<-ended
		}
		return nil
	})
	r.say(name, "%s, log in %s", path, logs.Name())
	return nil
}
