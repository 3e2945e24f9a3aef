package command

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

type forkOptions struct {
	Kubeconfig, WriteKubeconfig string
	SecurePort                  int
}

// run serves a copy of a server's state. For a running server, it obtains the state as a backup.
func (o *forkOptions) run(c *cobra.Command, args []string) error {
	config := daemon.Default()
	config.Ephemeral, config.Kubeconfig, config.Serving.SecurePort = true, o.WriteKubeconfig, o.SecurePort
	if len(args) > 0 && o.Kubeconfig != "" {
		return errors.New("give a backup or data directory, or --kubeconfig, but not both")
	}
	if len(args) > 0 {
		config.From = args[0]
	} else {
		dir, err := os.MkdirTemp("", "troupe-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		config.From = filepath.Join(dir, "state.backup")
		server, err := loadDaemonClient(c, o.Kubeconfig)
		if err != nil {
			return err
		}
		err = writeTo(config.From, nil, func(w io.Writer) error {
			_, err := server.backup(c.Context(), w)
			return err
		})
		if err != nil {
			return err
		}
	}
	return runDaemon(c, config)
}
