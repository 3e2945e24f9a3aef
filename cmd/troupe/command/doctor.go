package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// doctor returns the command that diagnoses a data directory, a running daemon, or both. Passed
// checks get a line too, so that users see what was checked.
func doctor() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Diagnose problems and suggest fixes",
		Long: `Check a data directory, the running server of --kubeconfig, or both; the default is the
server of KUBECONFIG. Print a line per check: ok, WARN for a potential problem, or FAULT for
an actual one, followed by a fix. Nothing is changed, and the server may be running. The
exit status is 1 if there is a FAULT.

  troupe doctor troupe-data
  troupe doctor --kubeconfig troupe-data/admin.kubeconfig`,
		Args: cobra.MaximumNArgs(1),
	}
	dir := c.Flags().String("data-dir", "", "Data directory to check.")
	kubeconfig := kubeconfigFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := takeDirectory(c, dir, args); err != nil {
			return err
		}
		if *dir == "" && *kubeconfig == "" && !hasKubeconfig() {
			return errors.New("give a data directory, or a running server with --kubeconfig or KUBECONFIG")
		}
		d := &diagnosis{out: c.OutOrStdout()}
		if *dir != "" {
			d.lookAtDirectory(*dir)
		}
		if *kubeconfig != "" || *dir == "" {
			r, err := loadDaemonClient(*kubeconfig)
			if err != nil {
				return err
			}
			d.lookAtServer(c.Context(), r)
		}
		return d.result()
	}
	return c
}

// A diagnosis writes findings and counts faults.
type diagnosis struct {
	out    io.Writer
	faults int
	err    error // of out
}

func (d *diagnosis) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(d.out, format, args...); d.err == nil {
		d.err = err
	}
}

func (d *diagnosis) ok(what string, args ...any) { d.printf("ok     "+what+"\n", args...) }

// warn reports a potential problem.
func (d *diagnosis) warn(advice, what string, args ...any) {
	d.printf("WARN   "+what+"\n", args...)
	d.printf("       → %s\n", advice)
}

// fault reports a problem.
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
