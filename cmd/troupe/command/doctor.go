package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

type doctorOptions struct{ DataDir, Kubeconfig string }

// run diagnoses a data directory, a running daemon, or both. It also prints passed checks, so that
// users see what was checked.
func (o *doctorOptions) run(c *cobra.Command, args []string) error {
	if err := takeDirectory(c, o.DataDir, args); err != nil {
		return err
	}
	d := &diagnosis{out: c.OutOrStdout()}
	if o.DataDir != "" {
		d.lookAtDirectory(o.DataDir)
	}
	if o.Kubeconfig != "" || o.DataDir == "" {
		r, err := loadDaemonClient(c, o.Kubeconfig)
		if errors.Is(err, kubeconfig.ErrNone) {
			return errors.New("give a data directory, or a running server with --kubeconfig or KUBECONFIG")
		}
		if err != nil {
			return err
		}
		d.lookAtServer(c.Context(), r)
	}
	return d.result()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

type diagnosis struct {
	out    io.Writer
	faults int
	err    error // error of out
}

func (d *diagnosis) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(d.out, format, args...); d.err == nil {
		d.err = err
	}
}

func (d *diagnosis) ok(what string, args ...any) { d.printf("ok     "+what+"\n", args...) }

func (d *diagnosis) warn(advice, what string, args ...any) {
	d.printf("WARN   "+what+"\n", args...)
	d.printf("       → %s\n", advice)
}

func (d *diagnosis) fault(advice, what string, args ...any) {
	d.faults++
	d.printf("FAULT  "+what+"\n", args...)
	d.printf("       → %s\n", advice)
}

func (d *diagnosis) result() error {
	if d.err != nil {
		return d.err
	}
	switch d.faults {
	case 0:
		return nil
	case 1:
		return errors.New("there is a fault")
	}
	return fmt.Errorf("there are %d faults", d.faults)
}
